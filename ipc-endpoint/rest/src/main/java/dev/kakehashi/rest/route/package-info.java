/// Routes, and what a handler of a route sees of a request and its answer.
@NullMarked
package dev.kakehashi.rest.route;

import org.jspecify.annotations.NullMarked;
