/*
 * Appender of a Chronicle Queue v5 directory that the endpoint has made.
 *
 * Every appender of a queue is a process of the same program, OS user and PID namespace; the endpoint only reads. A
 * kh_queue belongs to one thread of one process and must not be used after a fork. The process may be killed at any
 * instruction: the next appender repairs what it left.
 *
 * Between taking and releasing the lock of the queue nothing is called that may jump or wait for somebody else.
 * Signal handlers may run there if they return: no lock of this process is held that they could need, and an
 * interrupted system call is repeated. PostgreSQL's handlers of a backend only set flags and latches; what they asked
 * for is served by the caller afterwards. A handler that ends the process (_exit) is a kill.
 */
#ifndef KAKEHASHI_QUEUE_H
#define KAKEHASHI_QUEUE_H

#include "kakehashi/ipc.h"

typedef struct kh_queue kh_queue;

/* directory must hold metadata.cq4t. block_bytes: the block size of its readers; a multiple of 64 KiB. */
extern kh_queue *kh_queue_open(const char *directory, uint32_t block_bytes, kh_error *error);
extern void kh_queue_close(kh_queue *queue);

/* Longest message. */
extern uint32_t kh_queue_max_message_bytes(const kh_queue *queue);

/*
 * Appends one message of 1 .. max bytes. On failure nothing was appended, with 53100 when the file system is full, 55P03
 * when the lock could not be had in two seconds, XX001 when the files are not what they should be.
 *
 * One append costs two clock reads, three CAS and the copy; a system call per 64 KiB, and a few dozen per roll.
 */
extern bool kh_queue_append(kh_queue *queue, const void *message, uint32_t bytes, kh_error *error);

#endif /* KAKEHASHI_QUEUE_H */
