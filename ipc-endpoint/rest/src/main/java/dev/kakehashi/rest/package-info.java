/// The HTTP door: listeners, routes, jobs and their files.
@NullMarked
package dev.kakehashi.rest;

import org.jspecify.annotations.NullMarked;
