#include <map>
#include <string>

#include "registry.h"

namespace {
struct registry {
	std::map<std::string, int *> *objects = new std::map<std::string, int *>; // made by the constructor
	~registry() { delete objects; }
} all;
} // namespace

template <typename T> struct counter {
	static T &count() {
		static T n = 0; /* the loader has it once in a process */
		return n;
	}
};

int *registered(const char *name, int *object) {
	counter<int>::count()++;
	return all.objects->emplace(name, object).first->second;
}

int registrations() { return counter<int>::count(); }
