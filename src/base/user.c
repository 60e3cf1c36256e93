/* SPDX-License-Identifier: GPL-2.0-only */
/* The users that blktop works as: see user.h. */
#include "base/user.h"

#include "base/fail.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNCHANGED ((uid_t)-1)

static struct {
	bool drops;			/* run by root, to read as another user */
	uid_t uid;
	gid_t gid;
	uid_t owner;			/* UNCHANGED: the process's own */
	gid_t owner_group;
	bool dropped;			/* user_drop() has done that */
	bool stays;			/* user_drop() could not */
} user = { .owner = UNCHANGED, .owner_group = UNCHANGED };

static char *drop_hint;			/* of user_hint(); NULL: none */

static bool parse_id(const char *text, uid_t *ret)
{
	guint64 n;

	if (!text || !g_ascii_string_to_unsigned(text, 10, 0, UINT32_MAX - 1, &n, NULL))
		return false;
	*ret = (uid_t)n;
	return true;
}

static bool find(const char *name, uid_t *ret_uid, gid_t *ret_gid)
{
	const struct passwd *p = getpwnam(name);

	if (!p && parse_id(name, ret_uid) && !(p = getpwuid(*ret_uid))) {
		*ret_gid = (gid_t)*ret_uid;
		return true;
	}
	if (!p)
		return false;
	*ret_uid = p->pw_uid;
	*ret_gid = p->pw_gid;
	return true;
}

/* The caller of sudo. */
static bool find_caller(uid_t *ret_uid, gid_t *ret_gid)
{
	uid_t gid;

	if (!parse_id(g_getenv("SUDO_UID"), ret_uid) || *ret_uid == 0)
		return false;
	*ret_gid = parse_id(g_getenv("SUDO_GID"), &gid) ? (gid_t)gid : (gid_t)*ret_uid;
	return true;
}

static void find_nobody(uid_t *ret_uid, gid_t *ret_gid)
{
	if (find("nobody", ret_uid, ret_gid))
		return;
	*ret_uid = USER_UNMAPPED;	/* the user database does not have that name */
	*ret_gid = USER_UNMAPPED;
}

static bool is_nobody(uid_t uid)
{
	uid_t nobody;
	gid_t group;

	find_nobody(&nobody, &group);
	return uid == nobody;
}

/* Such as "nobody (65534)", or "user 12345" if it has no name. */
static char *describe_id(uid_t uid)
{
	const struct passwd *p = getpwuid(uid);

	return p ? g_strdup_printf("%s (%u)", p->pw_name, (unsigned)uid) :
		g_strdup_printf("user %u", (unsigned)uid);
}

bool user_choose(const char *name, bool drops, GError **error)
{
	uid_t caller = UNCHANGED;
	gid_t caller_group = UNCHANGED;
	bool is_root = geteuid() == 0;

	if (name && !is_root)
		return fail(error, G_FILE_ERROR, G_FILE_ERROR_PERM,
			    "--user needs root: only root can become another user");
	if (!is_root)
		return true;
	if (find_caller(&caller, &caller_group)) {
		user.owner = caller;
		user.owner_group = caller_group;
	}
	if (name && !find(name, &user.uid, &user.gid))
		return fail(error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "there is no user '%s' for --user", name);
	if (name && user.uid && !drops)
		return fail(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "--user '%s' needs isolation: without it, root "
			    "reads as root; remove --no-isolation, or run blktop as that user", name);
	if (name && !is_nobody(user.uid)) {
		user.owner = user.uid ? user.uid : UNCHANGED;
		user.owner_group = user.uid ? user.gid : UNCHANGED;
	} else if (!name && user.owner != UNCHANGED) {
		user.uid = caller;
		user.gid = caller_group;
	} else if (!name) {
		find_nobody(&user.uid, &user.gid);
	}
	user.drops = drops && user.uid != 0;
	return true;
}

uid_t user_owner(void)
{
	return user.owner;
}

gid_t user_owner_group(void)
{
	return user.owner_group;
}

bool user_is_own(uid_t owner)
{
	static uid_t started = UNCHANGED;	/* the answer stays the same after user_drop() */

	if (started == UNCHANGED)
		started = geteuid();
	return owner == started || (user.owner != UNCHANGED && owner == user.owner);
}

enum user_ids user_ids(void)
{
	g_autofree char *map = NULL;
	unsigned inside, outside, n;

	if (!g_file_get_contents("/proc/self/uid_map", &map, NULL, NULL))
		return USER_IDS_UNKNOWN;
	return sscanf(map, "%u %u %u", &inside, &outside, &n) == 3 && inside == 0 && n == UINT32_MAX ?
		USER_IDS_ALL : USER_IDS_SOME;
}

bool user_is_trusted(uid_t owner)
{
	return owner == 0 || user_is_own(owner) || (owner == USER_UNMAPPED && user_ids() == USER_IDS_SOME);
}

bool user_is_alone_in(gid_t group, uid_t uid)
{
	const struct group *g = getgrgid(group);
	const struct passwd *p = getpwuid(uid);

	if (group == 0)
		return true;
	if (!g || !p || p->pw_gid != group || strcmp(g->gr_name, p->pw_name) != 0)
		return false;
	for (char **member = g->gr_mem; *member; member++)
		if (strcmp(*member, p->pw_name) != 0)
			return false;
	return true;
}

/* Without capabilities root is a user as others are. */
static void drop_capabilities(bool keep_reading)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct kept[_LINUX_CAPABILITY_U32S_3] = { 0 };

	kept[0].permitted = kept[0].effective = keep_reading ? 1u << CAP_DAC_READ_SEARCH : 0;
	syscall(SYS_capset, &header, kept);
}

void user_drop(bool keep_reading, char **ret_why)
{
	*ret_why = NULL;
	user_is_own(0);			/* notes who started it */
	if (!user.drops)
		return;
	g_autofree char *who = describe_id(user.uid);	/* while the user database can be read */
	prctl(PR_SET_KEEPCAPS, keep_reading ? 1L : 0L, 0L, 0L, 0L);
	/* Containers may have no other groups either. */
	bool ok = (setgroups(0, NULL) == 0 || errno == EPERM) &&
		setresgid(user.gid, user.gid, user.gid) == 0 && setresuid(user.uid, user.uid, user.uid) == 0;
	if (!ok)
		*ret_why = g_strdup_printf("traces are read as root, without capabilities: cannot become %s: %s", who,
					   errno == EINVAL ? "this container has no such user" : g_strerror(errno));
	user.dropped = ok;
	user.stays = !ok;
	drop_capabilities(keep_reading);
	g_free(drop_hint);
	drop_hint = g_strdup_printf(": it is read as %s; --user root reads as root", ok ? who :
				    "root without capabilities");
}

const char *user_hint(int number)
{
	return drop_hint && (number == EACCES || number == EPERM) ? drop_hint : "";
}

char *user_describe(void)
{
	bool other = user.drops && !user.stays;
	g_autofree char *who = describe_id(other ? user.uid : geteuid());
	g_autofree char *owner = other ? describe_id(user.owner == UNCHANGED ? 0 : user.owner) : NULL;

	if (other)
		return g_strdup_printf("traces are read as %s, not as root; files that are made belong to %s "
				       "(--user NAME chooses)", who, owner);
	return g_strdup_printf("traces are read as %s%s", who,
			       user.stays ? ", without capabilities: this container has no other user" : "");
}
