/// Tasks that are pushed to targets over HTTP, at the rate of their queue and the target's.
///
/// A pusher (`QueuePush`) is a consumer like others: it takes tasks by the API and ends them by it, without the lock of the queue system.
/// Its own lock guards what it has under way. Answers come on threads of the HTTP client, which starts with the first push.
@NullMarked
package dev.kakehashi.queue.push;

import org.jspecify.annotations.NullMarked;
