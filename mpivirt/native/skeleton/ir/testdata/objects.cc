// Virtual functions, exceptions, a container of the standard library.
#include <stdexcept>
#include <vector>

struct shape {
	virtual int area(int) { return 1; }
	virtual ~shape() {}
};

struct square : shape {
	int area(int side) override {
		if (side > 3)
			throw std::runtime_error("side");
		return side * side;
	}
};

static int add(shape *s, std::vector<int> &areas) {
	try {
		areas.push_back(s->area(3));
	} catch (std::exception &) {
		return 7;
	}
	return areas[0];
}

int main() {
	std::vector<int> areas;
	square s;
	return add(&s, areas);
}
