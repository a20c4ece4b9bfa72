/* Runs a program and makes one of its system calls fail, or every call from one on; specs/internals/reliability.md describes the use.
 *
 * A seccomp filter reports the calls that read or change files to this process, which lets each run, makes it fail, does
 * a part of it, or kills the program before it (seccomp_unotify(2)). That sees raw system calls too, which a library that
 * is loaded before libc would miss, and needs no registers of a processor.
 *
 * usage: injector LOG FOLDER PROGRAM-NAME NUMBER FAULT once|on PROGRAM [ARGUMENT...]
 *
 * Calls are counted from 1 if a process whose executable has the name makes them, and they name a path below the folder
 * or an open file there, or write to standard output. LOG gets a line for each: number, name, class, path, new path,
 * separated by tabs. Number 0: none fails. Classes: r reads, w changes, a changes and allocates space, l locks, s syncs,
 * o writes to standard output, c closes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <poll.h>
#include <unistd.h>

#define PATH 4096

/* How a call names its file: an open file in argument 0; a path in argument 0; a folder and a path in arguments 0 and 1;
 * the same with a second pair in arguments 2 and 3; two paths. */
enum shape { FD, PATH0, AT, AT_AT, PATHS };

static const struct call { int number; const char *name; enum shape shape; char class; } CALLS[] = {
#ifdef SYS_open
    {SYS_open, "open", PATH0, 'r'}, {SYS_creat, "creat", PATH0, 'a'}, {SYS_mkdir, "mkdir", PATH0, 'a'},
    {SYS_rename, "rename", PATHS, 'w'}, {SYS_unlink, "unlink", PATH0, 'w'}, {SYS_rmdir, "rmdir", PATH0, 'w'},
    {SYS_link, "link", PATHS, 'a'}, {SYS_chmod, "chmod", PATH0, 'w'}, {SYS_chown, "chown", PATH0, 'w'},
    {SYS_stat, "stat", PATH0, 'r'}, {SYS_lstat, "lstat", PATH0, 'r'}, {SYS_symlink, "symlink", PATHS, 'a'},
    {SYS_readlink, "readlink", PATH0, 'r'}, {SYS_access, "access", PATH0, 'r'},
#endif
#ifdef SYS_renameat
    {SYS_renameat, "renameat", AT_AT, 'w'},
#endif
    {SYS_openat, "openat", AT, 'r'}, {SYS_openat2, "openat2", AT, 'r'}, {SYS_mkdirat, "mkdirat", AT, 'a'},
    {SYS_renameat2, "renameat2", AT_AT, 'w'}, {SYS_unlinkat, "unlinkat", AT, 'w'}, {SYS_linkat, "linkat", AT_AT, 'a'},
    {SYS_fchmodat, "fchmodat", AT, 'w'}, {SYS_fchownat, "fchownat", AT, 'w'}, {SYS_utimensat, "utimensat", AT, 'w'},
    {SYS_newfstatat, "newfstatat", AT, 'r'}, {SYS_statx, "statx", AT, 'r'}, {SYS_readlinkat, "readlinkat", AT, 'r'},
    {SYS_faccessat, "faccessat", AT, 'r'}, {SYS_faccessat2, "faccessat2", AT, 'r'},
    {SYS_truncate, "truncate", PATH0, 'w'}, {SYS_ftruncate, "ftruncate", FD, 'w'}, {SYS_fallocate, "fallocate", FD, 'a'},
    {SYS_fchmod, "fchmod", FD, 'w'}, {SYS_fchown, "fchown", FD, 'w'},
    {SYS_write, "write", FD, 'a'}, {SYS_pwrite64, "pwrite64", FD, 'a'}, {SYS_writev, "writev", FD, 'a'},
    {SYS_pwritev, "pwritev", FD, 'a'}, {SYS_copy_file_range, "copy_file_range", FD, 'a'},
    {SYS_sendfile, "sendfile", FD, 'a'}, {SYS_fsync, "fsync", FD, 's'}, {SYS_fdatasync, "fdatasync", FD, 's'},
    {SYS_flock, "flock", FD, 'l'}, {SYS_read, "read", FD, 'r'}, {SYS_pread64, "pread64", FD, 'r'},
    {SYS_readv, "readv", FD, 'r'}, {SYS_getdents64, "getdents64", FD, 'r'}, {SYS_fstat, "fstat", FD, 'r'},
    {SYS_lseek, "lseek", FD, 'r'}, {SYS_close, "close", FD, 'c'},
};
#define COUNT (sizeof CALLS / sizeof *CALLS)

static const struct { const char *name; int value; } ERRORS[] = {
    {"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EACCES", EACCES}, {"EINTR", EINTR}, {"EROFS", EROFS}, {"EDQUOT", EDQUOT},
    {"EMFILE", EMFILE}, {"EPERM", EPERM}, {"EINVAL", EINVAL}, {"ENOLCK", ENOLCK}, {"ENOSYS", ENOSYS}, {"EXDEV", EXDEV},
    {"ENOENT", ENOENT}, {"EEXIST", EEXIST},
};

static void die(const char *what) {
    perror(what);
    exit(99);
}

static int install_filter(void) {
    struct sock_filter code[4 + 2 * COUNT];
    size_t length = 0;
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < COUNT; i++) {
        code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)CALLS[i].number, 0, 1);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)length, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die("no_new_privs");
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* Reads the listener of the child by its number; the child waits until this was done. */
static int listener_of(pid_t child, int number) {
    int process = (int)syscall(SYS_pidfd_open, child, 0);
    int listener = (int)syscall(SYS_pidfd_getfd, process, number, 0);
    if (listener < 0) die("the listener of the filter");
    close(process);
    return listener;
}

static ssize_t read_memory(pid_t process, uint64_t address, void *into, size_t length) {
    struct iovec own = {into, length}, other = {(void *)(uintptr_t)address, length};
    ssize_t got = process_vm_readv(process, &own, 1, &other, 1, 0);
    if (got >= 0) return got;
    /* The range may end in memory that does not exist. */
    size_t rest = 4096 - address % 4096;
    own.iov_len = other.iov_len = rest < length ? rest : length;
    return process_vm_readv(process, &own, 1, &other, 1, 0);
}

static void link_of(pid_t process, const char *what, int number, char *into) {
    char name[64];
    if (number < 0) snprintf(name, sizeof name, "/proc/%d/%s", process, what);
    else snprintf(name, sizeof name, "/proc/%d/fd/%d", process, number);
    ssize_t length = readlink(name, into, PATH - 1);
    into[length < 0 ? 0 : length] = 0;
}

/* Writes the absolute path that a folder and the path at an address name. */
static void path_at(pid_t process, int folder, uint64_t address, char *into) {
    char text[PATH] = "";
    ssize_t got = read_memory(process, address, text, sizeof text - 1);
    text[got < 0 ? 0 : got] = 0;
    if (*text == '/') {
        strcpy(into, text);
        return;
    }
    char above[PATH];
    link_of(process, "cwd", folder == AT_FDCWD ? -1 : folder, above);
    if (!*text || !strcmp(text, ".")) strcpy(into, above);
    else if (snprintf(into, PATH, "%s/%s", above, text) >= PATH) into[0] = 0;
}

static void paths_of(const struct seccomp_notif *call, enum shape shape, char *first, char *second) {
    const __u64 *args = call->data.args;
    pid_t process = (pid_t)call->pid;
    *first = *second = 0;
    switch (shape) {
    case FD: link_of(process, "", (int)args[0], first); break;
    case PATH0: path_at(process, AT_FDCWD, args[0], first); break;
    case AT: path_at(process, (int)args[0], args[1], first); break;
    case PATHS: path_at(process, AT_FDCWD, args[0], first); path_at(process, AT_FDCWD, args[1], second); break;
    case AT_AT:
        path_at(process, (int)args[0], args[1], first);
        path_at(process, (int)args[2], args[3], second);
        break;
    }
}

/* Returns the class of a call, which of an open depends on its flags. */
static char class_of(const struct seccomp_notif *call, const struct call *known) {
    __u64 flags = 0;
    if (known->number == SYS_openat) flags = call->data.args[2];
#ifdef SYS_open
    else if (known->number == SYS_open) flags = call->data.args[1];
#endif
    else if (known->number == SYS_openat2) {
        struct open_how how = {0};
        read_memory((pid_t)call->pid, call->data.args[2], &how, sizeof how);
        flags = how.flags;
    } else return known->shape == FD && known->class == 'a' && (int)call->data.args[0] == 1 ? 'o' : known->class;
    if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) return 'a';
    return (flags & (O_WRONLY | O_RDWR | O_TRUNC)) ? 'w' : 'r';
}

static int is_program(pid_t process, const char *name) {
    char path[PATH];
    link_of(process, "exe", -1, path);
    char *last = strrchr(path, '/');
    return last && !strcmp(last + 1, name);
}

/* Does half of a read or write in place of the program. Returns the number of bytes, 0 if the call can't be split. */
static ssize_t do_half(const struct seccomp_notif *call) {
    int number = call->data.nr;
    size_t length = (size_t)call->data.args[2];
    if (length < 2 || (number != SYS_write && number != SYS_pwrite64 && number != SYS_read && number != SYS_pread64))
        return 0;
    length /= 2;
    pid_t process = (pid_t)call->pid;
    char *bytes = malloc(length);
    struct iovec own = {bytes, length}, other = {(void *)(uintptr_t)call->data.args[1], length};
    int of = (int)syscall(SYS_pidfd_open, process, 0);
    if (of < 0) { /* A thread that is not the first of its process. */
        char status[4096], name[64];
        snprintf(name, sizeof name, "/proc/%d/status", process);
        int file = open(name, O_RDONLY);
        ssize_t got = read(file, status, sizeof status - 1);
        status[got < 0 ? 0 : got] = 0;
        close(file);
        char *line = strstr(status, "\nTgid:");
        of = line ? (int)syscall(SYS_pidfd_open, atoi(line + 6), 0) : -1;
    }
    int file = (int)syscall(SYS_pidfd_getfd, of, (int)call->data.args[0], 0);
    if (file < 0) die("a file of the program");
    off_t offset = (off_t)call->data.args[3];
    ssize_t done;
    if (number == SYS_write || number == SYS_pwrite64) {
        if (process_vm_readv(process, &own, 1, &other, 1, 0) != (ssize_t)length) die("memory");
        done = number == SYS_write ? write(file, bytes, length) : pwrite(file, bytes, length, offset);
    } else {
        done = number == SYS_read ? read(file, bytes, length) : pread(file, bytes, length, offset);
        own.iov_len = other.iov_len = done > 0 ? (size_t)done : 0;
        if (done > 0 && process_vm_writev(process, &own, 1, &other, 1, 0) != done) die("memory");
    }
    close(file);
    close(of);
    free(bytes);
    return done < 0 ? -errno : done;
}

struct options { FILE *log; const char *folder, *program, *fault; long number; int goes_on; pid_t child; };

/* Whether the fault hits a call: the one with the number, or one after it that fails for the same reason. */
static int is_hit(const struct options *given, long number, char class) {
    if (given->number == 0 || number < given->number) return 0;
    if (number == given->number) return 1;
    if (!given->goes_on) return 0;
    /* A full disk refuses what needs space; one that is read-only, or broken, every change. */
    int needs_space = !strcmp(given->fault, "ENOSPC") || !strcmp(given->fault, "FULL");
    return class == 'a' || (!needs_space && (class == 'w' || class == 's'));
}

/* Frees the file of a close that fails, as close(2) does; the program keeps a descriptor that nobody uses. */
static void free_file(int listener, struct seccomp_notif *call) {
    int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct seccomp_notif_addfd put = {.id = call->id, .flags = SECCOMP_ADDFD_FLAG_SETFD, .srcfd = (unsigned)empty,
        .newfd = (unsigned)call->data.args[0], .newfd_flags = O_CLOEXEC};
    /* The program may have ended. */
    if (empty < 0 || (ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &put) < 0 && errno != ENOENT)) die("the file of a close");
    close(empty);
}

static void answer(struct options *given, int listener, struct seccomp_notif *call) {
    static long counted = 0;
    struct seccomp_notif_resp reply = {.id = call->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    const struct call *known = CALLS;
    while (known->number != call->data.nr) known++;
    char first[PATH], second[PATH];
    paths_of(call, known->shape, first, second);
    char class = class_of(call, known);
    size_t length = strlen(given->folder);
    int is_below = !strncmp(first, given->folder, length) || !strncmp(second, given->folder, length);
    if ((is_below || class == 'o') && is_program((pid_t)call->pid, given->program)) {
        counted++;
        fprintf(given->log, "%ld\t%s\t%c\t%s\t%s\n", counted, known->name, class, first, second);
        if (is_hit(given, counted, class)) {
            if (!strcmp(given->fault, "KILL")) {
                /* The number may be that of a thread; the signal is for its whole process. */
                kill((pid_t)call->pid, SIGKILL);
                return;
            }
            /* A disk that becomes full takes a part of a write, and nothing afterwards. */
            int is_full = !strcmp(given->fault, "FULL");
            if (!strcmp(given->fault, "SHORT") || (is_full && counted == given->number)) {
                ssize_t done = do_half(call);
                if (done) reply.flags = 0;
                if (done > 0) reply.val = done;
                if (done < 0) reply.error = (int)done;
            } else {
                const char *fault = is_full ? "ENOSPC" : given->fault;
                reply.flags = 0;
                if (class == 'c') free_file(listener, call);
                for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
                    if (!strcmp(ERRORS[i].name, fault)) reply.error = -ERRORS[i].value;
                if (!reply.error) { errno = EINVAL; die(fault); }
            }
        }
    }
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

static void run(char **words, int *pair) {
    setpgid(0, 0);
    int listener = install_filter();
    if (listener < 0) _exit(98);
    /* send(2) is none of the calls that are reported; the number is that of the file in this process. */
    send(pair[1], &listener, sizeof listener, 0);
    char done;
    recv(pair[1], &done, 1, 0);
    execvp(*words, words);
    _exit(97);
}

int main(int count, char **words) {
    if (count < 8) {
        fputs("usage: injector LOG FOLDER PROGRAM-NAME NUMBER FAULT once|on PROGRAM [ARGUMENT...]\n", stderr);
        return 99;
    }
    struct options given = {fopen(words[1], "w"), words[2], words[3], words[5], atol(words[4]), !strcmp(words[6], "on"), 0};
    if (!given.log) die(words[1]);
    fcntl(fileno(given.log), F_SETFD, FD_CLOEXEC);
    int pair[2], number;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) die("socketpair");
    given.child = fork();
    if (given.child == 0) run(words + 7, pair);
    if (recv(pair[0], &number, sizeof number, 0) != sizeof number) die("the filter");
    int listener = listener_of(given.child, number);
    send(pair[0], "", 1, 0);
    /* The program's standard streams are its own: its end is seen when it has ended. */
    struct seccomp_notif call;
    for (;;) {
        struct pollfd waited = {listener, POLLIN, 0};
        if (poll(&waited, 1, -1) < 0 && errno != EINTR) die("poll");
        if (!(waited.revents & POLLIN)) {
            if (waited.revents & (POLLHUP | POLLERR)) break;
            continue;
        }
        memset(&call, 0, sizeof call);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call)) {
            if (errno == ENOENT || errno == EINTR) continue;
            break;
        }
        answer(&given, listener, &call);
    }
    fclose(given.log);
    int status;
    if (waitpid(given.child, &status, 0) < 0) die("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
