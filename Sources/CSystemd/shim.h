#pragma once
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

/* The address sd-bus compares to learn whether a vtable carries parameter names; a macro in the header. */
static inline const unsigned *dogear_vtable_format(void) { return &sd_bus_object_vtable_format; }

/* A macro in the header, which adds where it was called from. */
static inline int dogear_journal_sendv(const struct iovec *fields, int count) { return sd_journal_sendv(fields, count); }
