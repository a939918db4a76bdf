/* Preloaded into a process: while the file FAIL_FSYNC names exists, no write is confirmed by the disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int failing(void) {
  const char *marker = getenv("FAIL_FSYNC");
  return marker != NULL && access(marker, F_OK) == 0;
}

int fsync(int file) {
  if (failing()) { errno = EIO; return -1; }
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
  if (failing()) { errno = EIO; return -1; }
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
