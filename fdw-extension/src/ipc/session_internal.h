/*
 * State of a session and its calls.
 *
 *   peer.c         whether the endpoint is the one that is meant
 *   attach.c       socket, handshake, what the endpoint published
 *   session.c      mappings, life of a session
 *   liveness.c     whether the endpoint is there
 *   slot_memory.c  what a response slot holds
 *   request.c      from arguments to a frame in the queue
 *   slots.c        response slots: taking, giving back, abandoned calls
 *   response.c     waiting, batches
 *   share.c        one response read by several processes
 *   borrow.c       the session of such a process
 *   final.c        the final frame
 *   store.c        the memory that rows are read from without a request, see direct/
 */
#ifndef KAKEHASHI_SESSION_INTERNAL_H
#define KAKEHASHI_SESSION_INTERNAL_H

#include "platform.h"

#include "errors.h"
#include "generated/kh_layouts.h"
#include "generated/kh_messages.h"
#include "queue.h"
#include "region.h"
#include "store.h"

#include <sys/types.h>

/* Longest frame on the attach socket, either direction. */
#define KH_SOCKET_FRAME_BYTES (16 * 1024)

#define KH_NO_SLOT UINT16_MAX

/* Offset of a batch that lies in its slot. */
#define KH_INLINE_OFFSET UINT64_MAX

/* Longest token of a transaction, with its end. They have 32 hexadecimal digits. */
#define KH_TOKEN_BYTES 64

typedef enum kh_call_state
{
	KH_CALL_FREE,
	KH_CALL_ACTIVE,
	KH_CALL_ABANDONED /* ended by the caller before its final frame: the slot is still the endpoint's */
} kh_call_state;

struct kh_call
{
	kh_session *session;
	kh_response_slot *slot;
	uint16_t slot_number;
	kh_call_state state;
	bool finished;   /* the final frame has been decoded */
	bool shared;     /* other processes have the slot mapped, or have had it */
	bool cancel_due; /* of an abandoned call: Cancel could not be sent yet */
	uint64_t request_id;
	uint64_t consumed; /* what slot->consumed is; only we write it */
	kh_result result;
	/* Private copy of the final frame, and what has been made from it. */
	unsigned char *frame;
	uint32_t frame_room;
	kh_column *columns;
	uint32_t *parameter_type_oids;
	const unsigned char *payload; /* in frame */
	uint32_t payload_bytes;
	char token[KH_TOKEN_BYTES]; /* of a transaction; empty: none was asked for */
	uint64_t *buffers;          /* granted: offsets in the arena */
	uint32_t buffer_room;       /* as many were asked for */
	uint32_t buffer_count;
	uint32_t buffer_bytes;
	/* See share.c. */
	kh_share *share;     /* NULL: this process alone reads */
	unsigned char *copy; /* of the batch that was drawn last */
	uint32_t copy_bytes; /* room in it */
};

/* What Attached said, checked: every slot, frame and inline area lies within the mailbox. */
typedef struct kh_published
{
	uint64_t session_id;
	uint64_t incarnation;
	uint64_t mailbox_offset;
	uint64_t arena_file_bytes;
	uint32_t slot_bytes;
	uint32_t frame_offset;
	uint32_t frame_area_bytes;
	uint32_t inline_offset;
	uint32_t inline_bytes;
	uint32_t arena_block_bytes;
	uint32_t queue_block_bytes;
	uint32_t reserved_slots;
	uint64_t queue_number;
	char queue_name[128];
	char principal[64];
	kh_limits limits;
	kh_engine engine;
} kh_published;

struct kh_session
{
	int socket;
	bool broken; /* the endpoint is gone or has broken the protocol: nothing is sent or believed any more */
	kh_published published;
	kh_region control;
	kh_region doorbell;
	kh_region mailbox;
	kh_region arena;
	kh_store store; /* the engine's rows, if this client may read them */
	kh_queue *queue;
	bool queue_damaged;     /* nothing could be appended to it: the session is broken because of that */
	unsigned char *request; /* limits.max_frame_bytes: the frame being sent */
	uint64_t next_request_id;
	int64_t spin_nanos;  /* of the next wait: at most limits.spin_nanos */
	int64_t yield_from;  /* no yields before, on the monotonic clock */
	int64_t pause_nanos; /* how long there are none after the next dear one */
	kh_call *calls;      /* one per slot */
	uint32_t call_count; /* of them that have been used: those of the other slots are all zero */
	kh_share *borrowed;  /* another process is attached, and this one reads a call of its; NULL: this one is attached */
	int lock;            /* of a borrowed session: the endpoint's lock file; else -1 */
	const char *directory;
	/*
	 * Slots that have been used and are free: of the reserved ones from the beginning of the array, of the others from
	 * reserved_slots on. Reserved ones are taken first, because the memory of the others comes and goes with their use.
	 */
	uint16_t *free_slots;
	uint32_t free_reserved;
	uint32_t free_others;
	uint32_t abandoned_count;
};

/* In next of a kh_share: nobody takes a batch any more. */
#define KH_SHARE_STOPPED (UINT64_C(1) << 63)

/* Two cache lines: they are fetched in pairs. */
#define KH_LINE_BYTES 128

#define KH_DIRECTORY_BYTES 1024

/* See share.c. */
struct kh_share
{
	/* Facts: written by the owner before another process knows the memory. */
	kh_published published;
	uint64_t request_id;
	uint32_t slot_number;
	kh_file control;
	kh_file doorbell;
	kh_file mailbox;
	kh_file arena;
	char directory[KH_DIRECTORY_BYTES];

	/* Written by all. */
	unsigned char pad1[KH_LINE_BYTES];
	uint64_t next; /* with KH_SHARE_STOPPED */
	unsigned char pad2[KH_LINE_BYTES];
	uint32_t sleepers;
	unsigned char pad3[KH_LINE_BYTES];
	uint64_t done[]; /* channel_window */
};

/* ---- attach ---- */

/*
 * The runtime directory without links, to be freed, if it belongs to the OS user of required_peer (NULL: our own), whose number is
 * *peer then, and nobody else may put another in its place. NULL with an error otherwise.
 */
extern char *kh_trusted_directory(const char *directory, const char *required_peer, uid_t *peer, kh_error *error);

/* Whether who listens at the other end of a connected socket runs as that OS user. */
extern bool kh_check_peer(int socket, const char *path, uid_t expected, kh_error *error);

/* Connects to the endpoint of that OS user and shakes hands: the socket, or -1. memory: descriptor of the store's memory, or -1. */
extern int kh_attach_socket(const kh_attach_options *options, const char *directory, uid_t peer,
                            kh_published *published, int *memory, kh_error *error);

/* The answer to Attach; frame is private memory. False with an error when it is a refusal or makes no sense. */
extern bool kh_attach_response(const void *frame, size_t bytes, kh_published *published, kh_error *error);

/*
 * Whether what failed with a queue will fail again: not for want of room, of memory or of descriptors, nor for what the request is.
 */
extern bool kh_is_damage(const kh_error *error);

/* ---- calls ---- */

/* A free slot with the next request id, or NULL. Its owner sends the request or gives it back with kh_call_unused. */
extern kh_call *kh_call_begin(kh_session *session, kh_error *error);
extern void kh_call_unused(kh_call *call);

/* Takes back the slots of abandoned calls that have finished. */
extern void kh_call_collect(kh_session *session);

/* consumed := count, and wakes a producer that waits for it. */
extern void kh_call_consume(kh_call *call, uint64_t count);

/* Looks, after consumed has grown, whether a producer waits for that. */
extern void kh_call_wake_producer(kh_call *call);

/* Frees what belongs to the final frame. */
extern void kh_call_clear(kh_call *call);

/* Adds 1 to the bell and wakes the endpoint; only if it sleeps, unless always. */
extern void kh_doorbell_ring(kh_session *session, bool always);

/*
 * Whether the final frame is there, how many batches lie before it, and which of them nobody has read. False when the slot
 * contradicts itself.
 */
extern bool kh_slot_look(const kh_call *call, uint64_t *next, uint64_t *produced, bool *final);

/* Where a batch is that lies there, by its descriptor; NULL when that is outside of the shared memory. */
extern const unsigned char *kh_batch_locate(const kh_call *call, uint64_t offset, uint32_t bytes);
extern void kh_batch_descriptor_read(const kh_call *call, uint64_t batch, kh_batch_descriptor *descriptor);

/* ---- calls read by several processes ---- */

extern uint64_t kh_share_next(const kh_share *share);
extern bool kh_share_stopped(const kh_share *share);

/* Takes the next batch that no process has taken, as a copy. False without an error if there is none (any more). */
extern bool kh_share_draw(kh_call *call, kh_batch *batch, kh_error *error);

/* Wakes one of the other processes if there is something for it, too. */
extern void kh_share_pass_on(kh_call *call);
extern void kh_share_sleeps(kh_share *share, int count);

/* The call's slot is read by this process alone again: none of the others is there any more. */
extern void kh_share_leave(kh_call *call);

/*
 * Takes memory for a final frame of the usual length, before the request is sent: so a commit that has been done can be told.
 */
extern bool kh_final_reserve(kh_call *call, kh_error *error);

/* Copies and decodes the final frame into call->result. False when it is not one. */
extern bool kh_final_decode(kh_call *call, kh_error *error);

/* Fills a kh_error from a Failed message. */
extern void kh_final_error(const kh_failed_message *failed, kh_error *error);

/* The session has ended without the client. */
extern kh_wait kh_session_lost(kh_error *error);

/* Marks the session broken: the endpoint has violated the protocol, or has ended the session. */
extern kh_wait kh_session_violated(kh_session *session, kh_error *error, const char *what);

#endif /* KAKEHASHI_SESSION_INTERNAL_H */
