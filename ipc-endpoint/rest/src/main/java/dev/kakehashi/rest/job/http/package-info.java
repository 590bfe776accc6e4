/// Routes of jobs and files of results, and keys of POST requests.
@NullMarked
package dev.kakehashi.rest.job.http;

import org.jspecify.annotations.NullMarked;
