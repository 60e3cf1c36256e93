/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which users blktop works as. Run by root, it reads untrusted data as another user: the one that --user names, else
 * the one that called sudo (SUDO_UID, SUDO_GID), else nobody. What it makes belongs to the same user, but to root
 * instead of nobody. Run by another user, it is that user throughout.
 */
#ifndef BLK_BASE_USER_H
#define BLK_BASE_USER_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Looks the users up. Call once, before threads. name: of --user, a name or a number; NULL: none. drops: user_drop()
 * will be called if need be; false, such as without isolation: root reads as root. Returns false if there is no such
 * user, or this process cannot become it.
 */
bool user_choose(const char *name, bool drops, GError **error);

/* Owner and group of what is made; -1: whatever the process is. */
uid_t user_owner(void);
gid_t user_owner_group(void);
/* Is that the owner of files that this user may rely on? Run by root, that is root or user_owner(). */
bool user_is_own(uid_t owner);
/* Which users the user namespace of this process has (/proc/self/uid_map, user_namespaces(7)). The kernel shows all
 * that it does not have as USER_UNMAPPED, which is nobody, too. */
enum user_ids { USER_IDS_UNKNOWN, USER_IDS_SOME, USER_IDS_ALL };
#define USER_UNMAPPED 65534u
enum user_ids user_ids(void);
/* The same as user_is_own(), or root; or a user that this container does not have, as that of its host's files. */
bool user_is_trusted(uid_t owner);
/* Has the group no other members than this user, and root? Asks the user database. */
bool user_is_alone_in(gid_t group, uid_t uid);

/* Becomes the user that reads, for good, without groups and capabilities. `keep_reading`: but with the right to read
 * files of all users, for a library that opens files itself; only for processes that Landlock limits to some files.
 * Does nothing if that is the user already.
 * *ret_why (g_free): why the process stays what it is, such as in a container that has no other user; NULL: it does
 * not. */
void user_drop(bool keep_reading, char **ret_why);

/* One line, such as "traces are read as nobody (65534), ..."; after user_drop() as which user they are really read.
 * g_free. */
char *user_describe(void);
/* A text to append to a message about a file that could not be read, with errno `number`: as which user it was tried,
 * and how to read it as root. "": not for that reason. Borrowed. */
const char *user_hint(int number);

#endif
