#include "fake_endpoint.h"

#include "fixture.h"
#include "scram.h"
#include "session_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SLOT_BYTES 8192
#define FRAME_OFFSET 1024
#define FRAME_BYTES 3072
#define INLINE_OFFSET 4096
#define INLINE_BYTES 4096
#define ARENA_BYTES 65536
#define BATCH_BYTES 64

/* The request whose batches are being produced; one at a time. */
typedef struct production
{
	bool active;
	bool silent;
	uint64_t request_id;
	uint16_t slot;
	uint32_t next;
	uint32_t count;
} production;

static struct
{
	char directory[300];
	fake_answer answer;
	int listener;
	int client;
	int lock;
	kh_control_page *control;
	unsigned char *doorbell;
	unsigned char *mailbox;
	unsigned char *arena;
	int cycle_file;
	uint64_t position;
	production current;
	bool stop;
	pthread_t thread;
	/* What the socket brought; the thread writes until the client has its answer. */
	unsigned char received[8192];
	size_t received_bytes;
} fake;

static unsigned char *
make_file(const char *name, size_t bytes)
{
	char path[400];
	unsigned char *map;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fake.directory, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0 && ftruncate(fd, (off_t) bytes) == 0);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED);
	close(fd);
	return map;
}

/* As the endpoint holds it while it runs. Closing any descriptor of the file in this process lets it go. */
static void
lock_directory(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[400];

	snprintf(path, sizeof(path), "%s/lock", fake.directory);
	fake.lock = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(fake.lock >= 0 && fcntl(fake.lock, F_SETLK, &lock) == 0);
}

void
fake_unlock(void)
{
	close(fake.lock);
	fake.lock = -1;
}

void
fake_crowded(bool crowded)
{
	kh_store_relaxed(&fake.control->crowded, crowded);
}

static void
make_files(void)
{
	char path[400];
	kh_control_page *control = (kh_control_page *) make_file("control", KH_CONTROL_PAGE_BYTES);

	control->magic = UINT64_C(0x31304948534b4b4b);
	control->layout_version = KH_LAYOUT_VERSION;
	control->incarnation = 8;
	fake.control = control;
	fake.doorbell = make_file("doorbell", KH_DOORBELL_PAGE_BYTES);
	snprintf(path, sizeof(path), "%s/mailboxes", fake.directory);
	CHECK(mkdir(path, 0700) == 0);
	snprintf(path, sizeof(path), "%s/arena", fake.directory);
	CHECK(mkdir(path, 0700) == 0);
	snprintf(path, sizeof(path), "%s/queues", fake.directory);
	CHECK(mkdir(path, 0700) == 0);
	fake.mailbox = make_file("mailboxes/1000", FAKE_SLOTS * SLOT_BYTES);
	fake.arena = make_file("arena/1000", ARENA_BYTES);
	snprintf(path, sizeof(path), "%s/queues/q", fake.directory);
	fixture_make(path, "yyyyMMdd-HHmm'H'", 1800000);
}

static kh_response_slot *
slot_of(uint16_t number)
{
	return (kh_response_slot *) (fake.mailbox + (size_t) number * SLOT_BYTES);
}

/* The published event: the client sleeps on it, or will see it. */
static void
notify(kh_response_slot *slot)
{
	__atomic_fetch_add(&slot->event, 1, __ATOMIC_RELEASE);
	kh_full_fence();
	if (kh_load_relaxed(&slot->client_sleeping) != 0)
	{
		kh_store_relaxed(&slot->client_sleeping, 0);
		__atomic_fetch_add(&slot->event, 1, __ATOMIC_RELEASE);
		kh_futex_wake(&slot->event);
	}
}

static void
finish(uint16_t number, uint64_t request_id, size_t frame_bytes)
{
	kh_response_slot *slot = slot_of(number);

	slot->frame_bytes = (uint32_t) frame_bytes;
	kh_store_release(&slot->status, request_id << 1 | 1);
	notify(slot);
}

static unsigned char *
frame_of(uint16_t number)
{
	return (unsigned char *) slot_of(number) + FRAME_OFFSET;
}

static void
complete(uint16_t number, uint64_t request_id, uint64_t rows)
{
	kh_completed_message message = {.request_id = request_id,
	                                .rows_affected = rows,
	                                .transaction_state = KH_TRANSACTION_STATE_ACTIVE,
	                                .transaction_handle = 42};

	finish(number, request_id, kh_completed_encode(&message, frame_of(number), FRAME_BYTES));
}

static void
fail_request(uint16_t number, uint64_t request_id, uint32_t sqlstate, const char *text)
{
	kh_failed_message failed = {.request_id = request_id,
	                            .sqlstate = sqlstate,
	                            .error_number = 1202,
	                            .transaction_state = KH_TRANSACTION_STATE_ACTIVE,
	                            .message = {.data = text, .bytes = (uint32_t) strlen(text)}};

	finish(number, request_id, kh_failed_encode(&failed, frame_of(number), FRAME_BYTES));
}

/* A final frame that is longer than its area, in the arena. */
static void
finish_long(uint16_t number, uint64_t request_id, const kh_pong_message *pong)
{
	uint64_t offset = 8192;
	uint32_t bytes = (uint32_t) kh_pong_encode(pong, fake.arena + offset, ARENA_BYTES - offset);

	memcpy(frame_of(number), &offset, sizeof(offset));
	finish(number, request_id, bytes);
}

static uint32_t
pack(const char *sqlstate)
{
	uint32_t packed = 0;

	for (int i = 0; i < 5; i++)
		packed |= (uint32_t) ((sqlstate[i] - '0') & 0x3F) << (6 * i);
	return packed;
}

static uint32_t
write_batch(unsigned char *at, uint64_t value)
{
	kh_batch_writer writer;
	uint32_t bytes;

	(void) kh_batch_writer_init_fixed(&writer, at, BATCH_BYTES, 1, 1, NULL);
	(void) kh_batch_writer_add_row(&writer);
	kh_batch_writer_set_word(&writer, 0, value);
	bytes = kh_batch_writer_finish(&writer);
	return bytes;
}

static void
stage(uint16_t number, uint64_t offset, uint32_t bytes)
{
	kh_response_slot *slot = slot_of(number);
	kh_batch_descriptor descriptor = {.offset = offset, .bytes = bytes, .row_count = 1};
	uint64_t n = kh_load_relaxed(&slot->produced);

	memcpy((unsigned char *) slot + KH_RESPONSE_SLOT_BYTES + sizeof(descriptor) * (n % FAKE_WINDOW), &descriptor,
	       sizeof(descriptor));
	kh_store_release(&slot->produced, n + 1);
}

/* Produces until the window is full, or the end. */
static void
produce(void)
{
	production *p = &fake.current;
	kh_response_slot *slot = slot_of(p->slot);

	while (p->active && !p->silent)
	{
		uint64_t produced = kh_load_relaxed(&slot->produced);
		uint64_t offset = BATCH_BYTES * (produced % FAKE_WINDOW);

		if (p->next == p->count)
		{
			p->active = false;
			complete(p->slot, p->request_id, p->count);
			return;
		}
		if (produced == kh_load_acquire(&slot->consumed) + FAKE_WINDOW)
		{
			kh_store_relaxed(&slot->producer_waiting, 1);
			kh_full_fence();
			if (produced == kh_load_acquire(&slot->consumed) + FAKE_WINDOW)
				return;
			continue;
		}
		stage(p->slot, offset, write_batch(fake.arena + offset, p->next++));
		notify(slot);
	}
}

static void
execute(const kh_execute_message *m)
{
	kh_response_slot *slot = slot_of(m->slot);

	switch (m->statement_id)
	{
		case FAKE_INLINE:
			stage(m->slot, KH_INLINE_OFFSET, write_batch((unsigned char *) slot + INLINE_OFFSET, 7));
			complete(m->slot, m->request_id, 1);
			break;
		case FAKE_FAILED:
			fail_request(m->slot, m->request_id, pack("23505"), "duplicate key");
			break;
		case FAKE_BEGINS:
			kh_store_relaxed(&slot->transaction_handle, 4711);
			kh_store_release(&slot->transaction_request, m->request_id);
			close(fake.client);
			fake.client = -1;
			break;
		case FAKE_DIES:
			close(fake.client);
			fake.client = -1;
			break;
		case FAKE_CLEARS:
			close(fake.client);
			fake.client = -1;
			kh_store_release(&slot->produced, 0);
			notify(slot);
			break;
		case FAKE_OVERFLOWS:
			kh_store_release(&slot->produced, slot->produced + FAKE_WINDOW + 1);
			notify(slot);
			break;
		case FAKE_OUTSIDE:
			stage(m->slot, ARENA_BYTES - 8, BATCH_BYTES);
			notify(slot);
			break;
		case FAKE_GARBAGE_FRAME:
			memset(frame_of(m->slot), 0xEE, 100);
			finish(m->slot, m->request_id, 100);
			break;
		case FAKE_LONG_FRAME:
			memset(frame_of(m->slot), 0x77, sizeof(uint64_t));
			finish(m->slot, m->request_id, FRAME_BYTES + 1);
			break;
		default:
			fake.current = (production){.active = true,
			                            .silent = m->statement_id == FAKE_SILENT,
			                            .request_id = m->request_id,
			                            .slot = m->slot,
			                            .count = m->statement_id};
			produce();
	}
}

/* Knows the procedure "sum", which adds its parameters, all of type int8, in the one transaction that there is. */
static void
invoke(kh_invoke_message *m)
{
	kh_response_slot *slot = slot_of(m->slot);
	kh_invoke_parameter_types type;
	kh_batch parameters;
	kh_error error;
	uint64_t sum = 0;

	if (m->procedure.bytes != 3 || memcmp(m->procedure.data, "sum", 3) != 0)
	{
		fail_request(m->slot, m->request_id, pack("42883"), "there is no such procedure");
		return;
	}
	if (m->action != KH_CONTINUE || m->transaction_handle != 42)
	{
		fail_request(m->slot, m->request_id, pack("25901"), "there is no such transaction");
		return;
	}
	while (kh_invoke_parameter_types_next(&m->parameter_types_group, &type))
	{
		if (type.type_oid != 20)
		{
			fail_request(m->slot, m->request_id, pack("42804"), "a parameter is of another type");
			return;
		}
	}
	if (m->parameter_types_count > 0)
	{
		/* In a frame it lies anywhere; a batch is aligned. */
		static _Alignas(8) unsigned char copy[1024];

		if (m->parameters.bytes <= sizeof(copy))
			memcpy(copy, m->parameters.data, m->parameters.bytes);
		if (m->parameters.bytes > sizeof(copy) || !kh_batch_check(copy, m->parameters.bytes, &parameters, &error))
		{
			fail_request(m->slot, m->request_id, pack("08901"), "parameters are no row batch");
			return;
		}
		for (uint32_t i = 0; i < m->parameter_types_count; i++)
			sum += kh_batch_word(&parameters, 0, i);
	}
	stage(m->slot, KH_INLINE_OFFSET, write_batch((unsigned char *) slot + INLINE_OFFSET, sum));
	complete(m->slot, m->request_id, 1);
}

/* The handle says what becomes of the answer: 1 to 63 are that many digits, 64 and more are too many, 0 is none; 100 is no digit. */
static void
export_transaction(const kh_export_transaction_message *m)
{
	char digits[128];
	kh_transaction_token_message answer = {.request_id = m->request_id,
	                                       .transaction_handle = m->transaction_handle,
	                                       .lease_deadline_nanos = 9,
	                                       .transaction_state = KH_TRANSACTION_STATE_ACTIVE,
	                                       .token = {digits, (uint32_t) m->transaction_handle}};

	memset(digits, m->transaction_handle == 100 ? '"' : 'a', sizeof(digits));
	if (m->transaction_handle == 100)
		answer.token.bytes = 32;
	finish(m->slot, m->request_id, kh_transaction_token_encode(&answer, frame_of(m->slot), FRAME_BYTES));
}

/* Knows one token: FAKE_TOKEN. */
static void
continue_transaction(const kh_continue_transaction_message *m)
{
	kh_completed_message answer = {.request_id = m->request_id,
	                               .transaction_handle = 4711,
	                               .lease_deadline_nanos = 9,
	                               .transaction_state = KH_TRANSACTION_STATE_ACTIVE};

	if (m->token.bytes == strlen(FAKE_TOKEN) && memcmp(m->token.data, FAKE_TOKEN, m->token.bytes) == 0)
		finish(m->slot, m->request_id, kh_completed_encode(&answer, frame_of(m->slot), FRAME_BYTES));
	else
		fail_request(m->slot, m->request_id, pack("25P01"), "there is no such transaction");
}

static void
handle(const unsigned char *frame, size_t bytes)
{
	static const kh_prepared_columns columns[] = {{.type_oid = 23, .type_modifier = -1, .name = {"id", 2}}};
	static const kh_prepared_parameters parameters[] = {{.type_oid = 25}, {.type_oid = 20}};
	static const kh_buffers_granted_buffers buffers[] = {{.arena_offset = 32768}, {.arena_offset = 40960}};
	kh_execute_message run;
	kh_ping_message ping;
	kh_cancel_message cancel;
	kh_prepare_message prepare;
	kh_acquire_buffers_message acquire;
	kh_export_transaction_message export;
	kh_continue_transaction_message joins;
	kh_invoke_message call;

	if (kh_execute_decode(frame, bytes, &run))
		execute(&run);
	else if (kh_invoke_decode(frame, bytes, &call))
		invoke(&call);
	else if (kh_ping_decode(frame, bytes, &ping))
	{
		kh_pong_message pong = {.request_id = ping.request_id, .payload = ping.payload};

		if (bytes > FRAME_BYTES)
			finish_long(ping.slot, ping.request_id, &pong);
		else
			finish(ping.slot, ping.request_id, kh_pong_encode(&pong, frame_of(ping.slot), FRAME_BYTES));
	}
	else if (kh_prepare_decode(frame, bytes, &prepare))
	{
		kh_prepared_message prepared = {.request_id = prepare.request_id,
		                                .statement_id = prepare.statement_id,
		                                .columns = columns,
		                                .columns_count = 1,
		                                .parameters = parameters,
		                                .parameters_count = 2};

		finish(prepare.slot, prepare.request_id, kh_prepared_encode(&prepared, frame_of(prepare.slot), FRAME_BYTES));
	}
	else if (kh_acquire_buffers_decode(frame, bytes, &acquire))
	{
		kh_buffers_granted_message granted = {
			.request_id = acquire.request_id, .buffer_bytes = 8192, .buffers = buffers, .buffers_count = 2};

		finish(acquire.slot, acquire.request_id,
		       kh_buffers_granted_encode(&granted, frame_of(acquire.slot), FRAME_BYTES));
	}
	else if (kh_export_transaction_decode(frame, bytes, &export))
		export_transaction(&export);
	else if (kh_continue_transaction_decode(frame, bytes, &joins))
		continue_transaction(&joins);
	else if (kh_cancel_decode(frame, bytes, &cancel) && fake.current.active &&
	         cancel.target_request_id == fake.current.request_id)
	{
		fake.current.active = false;
		fail_request(fake.current.slot, fake.current.request_id, pack("57014"), "canceled");
	}
}

static bool
open_cycle_file(void)
{
	char path[400];
	struct dirent *entry;
	DIR *listing;

	snprintf(path, sizeof(path), "%s/queues/q", fake.directory);
	listing = opendir(path);
	while (fake.cycle_file < 0 && listing != NULL && (entry = readdir(listing)) != NULL)
	{
		size_t n = strlen(entry->d_name);

		if (n > 4 && strcmp(entry->d_name + n - 4, ".cq4") == 0)
			fake.cycle_file = openat(dirfd(listing), entry->d_name, O_RDONLY);
	}
	if (listing != NULL)
		closedir(listing);
	return fake.cycle_file >= 0;
}

/* Handles what has been appended; whether there was anything. */
static bool
poll_queue(void)
{
	static unsigned char frame[65536];
	bool any = false;
	uint32_t header;

	if (fake.cycle_file < 0 && !open_cycle_file())
		return false;
	while (pread(fake.cycle_file, &header, 4, (off_t) fake.position) == 4 && header != 0 &&
	       (header & KH_WIRE_INCOMPLETE) == 0)
	{
		uint32_t bytes = header & KH_WIRE_LENGTH_MASK;

		if ((header & KH_WIRE_META) == 0 &&
		    pread(fake.cycle_file, frame, bytes, (off_t) fake.position + 4) == (ssize_t) bytes)
			handle(frame, bytes);
		fake.position = kh_wire_align4(fake.position + 4 + bytes);
		any = true;
	}
	return any;
}

/* A frame of at most 4096 bytes. */
static bool
receive(unsigned char *frame, uint32_t *bytes)
{
	if (recv(fake.client, bytes, 4, MSG_WAITALL) != 4 || *bytes > 4096 ||
	    recv(fake.client, frame, *bytes, MSG_WAITALL) != (ssize_t) *bytes)
		return false;
	memcpy(fake.received + fake.received_bytes, frame, *bytes);
	fake.received_bytes += *bytes;
	return true;
}

static void
send_frame(unsigned char *frame, uint32_t bytes)
{
	memcpy(frame, &bytes, 4);
	(void) !send(fake.client, frame, 4 + (size_t) bytes, MSG_NOSIGNAL);
}

/* The signature of who knows the password "pencil" with the salt and the count of ask_for_proof. */
static void
sign_as_who_knows(const char *bare, const char *first, const char *without_proof, unsigned char *signature)
{
	unsigned char key[KH_SHA256_BYTES];
	const char *const signed_parts[] = {bare, ",", first, ",", without_proof};
	kh_hmac mac;

	CHECK(kh_pbkdf2("pencil", 6, "salt", 4, 4096, NULL, NULL, key));
	kh_hmac_of(key, sizeof(key), "Server Key", 10, key);
	kh_hmac_begin(&mac, key, sizeof(key));
	for (size_t i = 0; i < sizeof(signed_parts) / sizeof(*signed_parts); i++)
		kh_hmac_add(&mac, signed_parts[i], strlen(signed_parts[i]));
	kh_hmac_end(&mac, signature);
}

static void
base64_of_signature(const unsigned char *bytes, char *to)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (int i = 0; i < KH_SHA256_BYTES; i += 3)
	{
		uint32_t word =
			(uint32_t) bytes[i] << 16 | (uint32_t) bytes[i + 1] << 8 | (i + 2 < KH_SHA256_BYTES ? bytes[i + 2] : 0);

		for (int shift = 18; shift >= 0; shift -= 6)
			*to++ = alphabet[word >> shift & 63];
	}
	to[-1] = '=';
	*to = '\0';
}

/* What this endpoint proves in return; false when there is no exchange. */
static bool
ask_for_proof(kh_text client_first, char *proof)
{
	static const char *const counts[] = {
		[FAKE_ASKS_FOR_4095_ITERATIONS] = "4095",
		[FAKE_ASKS_FOR_1000001_ITERATIONS] = "1000001",
		[FAKE_ASKS_FOR_1000000_ITERATIONS] = "1000000",
		[FAKE_ASKS_WITH_A_LONG_MESSAGE] = "4096",
	};
	unsigned char frame[4 + 4096];
	unsigned char signature[KH_SHA256_BYTES] = {0};
	char bare[512];
	char first[2048];
	char final[512];
	char *nonce;
	uint32_t bytes;
	kh_authentication_challenge_message challenge;
	kh_authentication_response_message response;

	if (client_first.bytes < 3 || client_first.bytes >= sizeof(bare))
		return false;
	kh_copy_text(bare, sizeof(bare), client_first.data + 3, client_first.bytes - 3);
	nonce = strstr(bare, "r=") + 2;
	snprintf(first, sizeof(first), "r=%s%s,s=c2FsdA==,i=%s", fake.answer == FAKE_CHANGES_THE_NONCE ? "x" : nonce,
	         "more", fake.answer >= FAKE_ASKS_FOR_4095_ITERATIONS ? counts[fake.answer] : "4096");
	if (fake.answer == FAKE_ASKS_WITH_A_LONG_MESSAGE)
	{
		size_t n = strlen(first);

		snprintf(first + n, sizeof(first) - n, ",x=%01100d", 0);
	}
	challenge.message = (kh_text){first, (uint32_t) strlen(first)};
	send_frame(frame, (uint32_t) kh_authentication_challenge_encode(&challenge, frame + 4, 4096));
	if (!receive(frame, &bytes) || !kh_authentication_response_decode(frame, bytes, &response))
		return false;
	kh_copy_text(final, sizeof(final), response.message.data, response.message.bytes);
	*strstr(final, ",p=") = '\0';
	if (fake.answer == FAKE_KNOWS_THE_PASSWORD)
		sign_as_who_knows(bare, first, final, signature);
	else if (fake.answer == FAKE_KNOWS_NO_PASSWORD)
		memset(signature, 7, sizeof(signature));
	memcpy(proof, "v=", 3);
	base64_of_signature(signature, proof + 2);
	return true;
}

bool
fake_received(const char *text)
{
	return memmem(fake.received, fake.received_bytes, text, strlen(text)) != NULL;
}

static void
answer_attach(void)
{
	unsigned char frame[4 + 4096];
	char proof[128];
	uint32_t bytes;
	kh_attach_message attach;
	kh_failed_message failed = {.sqlstate = pack("53300"), .message = {"no more sessions", 16}};
	kh_attached_message attached = {.session_id = 9,
	                                .incarnation = 8,
	                                .mailbox_file_bytes = FAKE_SLOTS * SLOT_BYTES,
	                                .arena_file_bytes = ARENA_BYTES,
	                                .slots_per_mailbox = FAKE_SLOTS,
	                                .slot_bytes = SLOT_BYTES,
	                                .frame_offset = FRAME_OFFSET,
	                                .frame_area_bytes = FRAME_BYTES,
	                                .inline_offset = INLINE_OFFSET,
	                                .inline_bytes = INLINE_BYTES,
	                                .channel_window = FAKE_WINDOW,
	                                .arena_block_bytes = 4096,
	                                .max_batch_bytes = 16384,
	                                .max_frame_bytes = 16384,
	                                .max_statements = 16,
	                                .queue_block_bytes = FIXTURE_BLOCK,
	                                .spin_nanos = 10000,
	                                .lease_nanos = 1000000000,
	                                .reserved_slots = FAKE_RESERVED_SLOTS,
	                                .capabilities = ~(UINT64_C(1) << KH_CAN_SAVEPOINTS),
	                                .computations = UINT64_C(1) << KH_COMPUTES_JOINS,
	                                .stored_types = UINT64_C(1) << KH_KEEPS_UUID,
	                                .longest_row_bytes = 4000,
	                                .most_transaction_bytes = 5000,
	                                .queue_number = 5,
	                                .queue_name = {"q", 1},
	                                .principal = {"1000", 4},
	                                .endpoint_version = {"test", 4},
	                                .engine = {"fake", 4}};

	if (!receive(frame, &bytes) || !kh_attach_decode(frame, bytes, &attach))
		return;
	if (fake.answer >= FAKE_KNOWS_THE_PASSWORD)
	{
		if (!ask_for_proof(attach.authentication, proof))
			return;
		attached.authentication = (kh_text){proof, (uint32_t) strlen(proof)};
		bytes = (uint32_t) kh_attached_encode(&attached, frame + 4, 4096);
	}
	else if (fake.answer == FAKE_ATTACHES)
		bytes = (uint32_t) kh_attached_encode(&attached, frame + 4, 4096);
	else if (fake.answer == FAKE_REFUSES)
		bytes = (uint32_t) kh_failed_encode(&failed, frame + 4, 4096);
	else if (fake.answer == FAKE_SENDS_GARBAGE)
		memset(frame + 4, 0x55, bytes = 200);
	else
		return;
	send_frame(frame, bytes);
}

static void *
fake_main(void *unused)
{
	kh_doorbell_page *doorbell = (kh_doorbell_page *) fake.doorbell;

	(void) unused;
	while (!kh_load_acquire(&fake.stop))
	{
		struct pollfd listener = {.fd = fake.listener, .events = POLLIN};
		uint32_t bell;

		if (fake.client < 0 && fake.position == 0 && poll(&listener, 1, 20) == 1)
		{
			fake.client = accept(fake.listener, NULL, NULL);
			answer_attach();
		}
		/* The endpoint's half of the doorbell. Long sleeps: a lost wake-up would be a test that takes seconds. */
		bell = kh_load_acquire(&doorbell->bell);
		kh_store_relaxed(&doorbell->sleeping, 1);
		kh_full_fence();
		if (!poll_queue() && __atomic_exchange_n(&doorbell->released, 0, __ATOMIC_ACQ_REL) == 0 &&
		    !kh_load_acquire(&fake.stop))
			(void) kh_futex_wait(&doorbell->bell, bell, fake.client >= 0 ? 5000000000 : 5000000);
		kh_store_relaxed(&doorbell->sleeping, 0);
		produce();
	}
	return NULL;
}

void
fake_start(const char *directory, fake_answer answer)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memset(&fake, 0, sizeof(fake));
	fake.cycle_file = fake.client = -1;
	fake.answer = answer;
	snprintf(fake.directory, sizeof(fake.directory), "%s", directory);
	make_files();
	lock_directory();
	snprintf(address.sun_path, sizeof(address.sun_path), "%.80s/endpoint.sock", directory);
	fake.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(bind(fake.listener, (struct sockaddr *) &address, sizeof(address)) == 0 && listen(fake.listener, 4) == 0);
	CHECK(pthread_create(&fake.thread, NULL, fake_main, NULL) == 0);
}

void
fake_stop(void)
{
	kh_doorbell_page *doorbell = (kh_doorbell_page *) fake.doorbell;

	kh_store_release(&fake.stop, true);
	__atomic_fetch_add(&doorbell->bell, 1, __ATOMIC_RELEASE);
	kh_futex_wake(&doorbell->bell);
	pthread_join(fake.thread, NULL);
	close(fake.listener);
	if (fake.lock >= 0)
		fake_unlock();
	if (fake.client >= 0)
		close(fake.client);
	if (fake.cycle_file >= 0)
		close(fake.cycle_file);
	munmap(fake.control, KH_CONTROL_PAGE_BYTES);
	munmap(fake.doorbell, KH_DOORBELL_PAGE_BYTES);
	munmap(fake.mailbox, FAKE_SLOTS * SLOT_BYTES);
	munmap(fake.arena, ARENA_BYTES);
}
