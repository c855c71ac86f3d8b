#define _GNU_SOURCE
#include "CMemory.h"
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

static int give_back(struct dl_phdr_info *object, size_t size, void *libraries) {
    (void)size;
    ElfW(Addr) page = (ElfW(Addr))getpagesize();
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
        ElfW(Addr) start = object->dlpi_addr + part->p_vaddr, first = start / page * page;
        madvise((void *)first, start + part->p_memsz - first, MADV_DONTNEED);
    }
    return !*(int *)libraries; /* the first that is named is the program */
}

void dogear_give_code_back(int libraries) { dl_iterate_phdr(give_back, &libraries); }
