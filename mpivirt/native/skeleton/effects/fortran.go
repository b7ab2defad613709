package effects

import "strings"

// inFortran are the roles of functions of MPI whose parameters in Fortran differ from those in C, the error's included.
var inFortran = map[string]string{
	"Init": "o", "Init_thread": "aoo", "Wtime": "", "Wtick": "", "Aint_add": "aa", "Aint_diff": "aa", "Op_create": "vaoo", "Comm_create_keyval": "vvoao", "Keyval_create": "vvoao", "Type_create_keyval": "vvoao",
	// What is no content of messages, and passed by its address.
	"Get_address": "voo", "Address": "voo", "Alloc_mem": "aapo", "Free_mem": "vo", "Buffer_attach": "vao",
	// The lengths of texts follow the error.
	"Get_processor_name": "ooov", "Get_library_version": "ooov", "Comm_set_name": "aaov", "Comm_get_name": "aooov", "Type_set_name": "aaov", "Type_get_name": "aooov", "Error_string": "aooov", "Add_error_string": "aaov",
	"Info_create_env": "oo", "Info_set": "aaaovv", "Info_delete": "aaov", "Info_get": "aaaooovv", "Info_get_string": "aabooovv", "Info_get_valuelen": "aaooov", "Info_get_nthkey": "aaoov",
	"Pack_external_size": "aaaoov", "Pack_external": "asaarabov", "Unpack_external": "asabraaov",
	"Pack_external_size_c": "aaaoov", "Pack_external_c": "asaarabov", "Unpack_external_c": "asabraaov",
}

// ofFortran are the roles of functions of flang's run-time library, by kind; * stands for any end of a name.
var ofFortran = map[Kind]string{
	Course: `_FortranAProgramStart vvvv; _FortranAProgramEndStatement; _FortranAStopStatement vvv; _FortranAStopStatementText avvv; _FortranAExit v; _FortranAAbort;
		_FortranAReportFatalUserError aav; gigarank_compute_ a; gigarank_charge_ a`,
	Record: `mpi_pcontrol_ a`,
	Pure: `_FortranAArgumentCount; _FortranAGetCommandArgument vwwwav; _FortranAGetCommand wwwav;
		_FortranAioOutputAscii bav; _FortranAioOutputInteger8 bv; _FortranAioOutputInteger16 bv; _FortranAioOutputInteger32 bv; _FortranAioOutputInteger64 bv; _FortranAioOutputReal32 bv; _FortranAioOutputReal64 bv;
		_FortranAioOutputComplex32 bvv; _FortranAioOutputComplex64 bvv; _FortranAioOutputLogical bv; _FortranAioOutputDescriptor bd; _FortranAioInputInteger bov; _FortranAioInputReal32 bo; _FortranAioInputReal64 bo;
		_FortranAioInputLogical bo; _FortranAioInputAscii bov; _FortranAioInputDescriptor bw; _FortranAioEndIoStatement b; _FortranAioEnableHandlers bvvvvv; _FortranAioSetAdvance bav;
		_FortranAAllocatableSetBounds mvvv; _FortranAAllocatableAllocate pvvvv; _FortranAAllocatableDeallocate pvvvv; _FortranAAllocatableInitIntrinsicForAllocate bvvvv; _FortranAAssign wdav; _FortranAAssignTemporary wdav; _FortranACopyInAssign wdav; _FortranACopyOutAssign wdav; _FortranAIsContiguous a; _FortranAReshape wddddav;
		_FortranAPointerSetBounds mvvv; _FortranAPointerAllocate pvvvv; _FortranAPointerDeallocate pvvvv; _FortranAGetEnvVariable dwwvwav;
		_FortranAioSetFile bav; _FortranAioSetStatus bav; _FortranAioSetAccess bav; _FortranAioSetForm bav; _FortranAioSetAction bav; _FortranAioSetPosition bav; _FortranAioSetRecl bv; _FortranAioGetNewUnit bov;
		_FortranACharacterCompareScalar1 aavv; _FortranAModReal4 vvav; _FortranAModReal8 vvav; _FortranAFPow4i vv; _FortranAFPow8i vv; _FortranAFPow4k vv; _FortranAFPow8k vv;
		_FortranASum* davvd; _FortranAProduct* davvd; _FortranAMaxval* davvd; _FortranAMinval* davvd; _FortranADotProduct* ddav; _FortranAAll davv; _FortranAAny davv`,
	Statement: `_FortranAioBeginInternalListInput avvvvv; _FortranAioBeginInternalListOutput ovvvvv; _FortranAioBeginInternalFormattedInput avavvvvvv; _FortranAioBeginInternalFormattedOutput ovavvvvvv`,
	Input: `_FortranAioBeginExternalListInput vvv; _FortranAioBeginExternalFormattedInput avvvvv; _FortranAioBeginUnformattedInput vvv;
		_FortranAioBeginOpenUnit vvv; _FortranAioBeginOpenNewUnit vv; _FortranAioBeginClose vvv; _FortranAioBeginRewind vvv`,
	Output: `_FortranAioBeginExternalListOutput vvv; _FortranAioBeginExternalFormattedOutput avvvvv; _FortranAioBeginUnformattedOutput vvv; _FortranAFlush v`,
	Random: `_FortranARandomNumber wav; _FortranARandomInit vv; _FortranARandomSeedDefaultPut`,
}

// clocks of flang's run-time library.
var clocks = map[string]string{"_FortranACpuTime": "", "_FortranASystemClockCount": "v", "_FortranASystemClockCountRate": "v", "_FortranASystemClockCountMax": "v"}

// prefixes hold the functions of the table whose names may end in any way.
var prefixes = map[string]*Effect{}

// addFortran adds the functions of programs in Fortran. All arguments of MPI are passed by reference there, and the error comes last.
func addFortran(inBoth []string) {
	for _, name := range inBoth {
		e := *table["MPI_"+name]
		own, other := inFortran[name]
		if !other {
			own = strings.ReplaceAll(e.Roles, "v", "a") + "o"
		}
		e.Roles = own
		table["mpi_"+strings.ToLower(name)+"_"] = &e
	}
	for kind, text := range ofFortran {
		for name, roles := range entries(text) {
			e := &Effect{Kind: kind, Roles: roles}
			if begin, any := strings.CutSuffix(name, "*"); any {
				prefixes[begin] = e
			} else {
				table[name] = e
			}
		}
	}
	for name, roles := range clocks {
		table[name] = &Effect{Kind: Pure, Roles: roles, Clock: true}
	}
}

// byPrefix returns the effect of a function by the begin of its name, nil for none.
func byPrefix(name string) *Effect {
	if !strings.HasPrefix(name, "_FortranA") {
		return nil
	}
	for begin, e := range prefixes {
		if strings.HasPrefix(name, begin) {
			return e
		}
	}
	return nil
}
