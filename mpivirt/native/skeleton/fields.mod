!mod$ v1 sum:5e380f5dacd88ff7
module fields
type::level
integer(4)::n
real(8),allocatable::u(:,:)
real(8),allocatable::r(:,:)
end type
type(level),allocatable::levels(:)
real(8),allocatable::halo(:)
complex(8),allocatable::spectrum(:)
real(8),pointer::work(:)
intrinsic::null
integer(4)::depth
integer(4)::sweeps
integer(4)::left
integer(4)::right
logical(4)::timed
real(8)::started(1_8:8_8)
real(8)::elapsed(1_8:8_8)
contains
subroutine open_levels(n)
integer(4),intent(in)::n
end
subroutine start(k)
integer(4),intent(in)::k
end
subroutine stop_timer(k)
integer(4),intent(in)::k
end
end
