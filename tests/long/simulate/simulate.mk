# The simulator: see simulate.c. Its threads, clock and network are its own.
SIMULATE_SRC := $(wildcard tests/long/simulate/*.c)
$(BUILD)/simulate: private LDFLAGS += $(call wraps,net_connect net_read net_read_some net_write net_close net_leave \
	net_abort net_wake net_wake_new net_sleep g_thread_new g_thread_join g_thread_unref g_mutex_lock g_cond_wait \
	g_cond_wait_until g_cond_signal g_cond_broadcast g_usleep g_get_monotonic_time g_get_real_time \
	g_random_int_range write pwrite)
$(BUILD)/simulate: $(SIMULATE_SRC) $(wildcard tests/long/simulate/*.h) $(BUILD)/libtest.a $(BUILD)/libblktop.a $(READY)
	@mkdir -p $(@D)
	$(call say,CCLD)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -Itests $(ALL_LDFLAGS) -o $@ $(SIMULATE_SRC) $(BUILD)/libtest.a \
		$(BUILD)/libblktop.a $(LIBS)

# The thread sanitizer replaces the same functions of GLib.
ifneq ($(SANITIZE),thread)
helpers: $(BUILD)/simulate
endif
