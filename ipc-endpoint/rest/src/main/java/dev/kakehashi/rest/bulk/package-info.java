/// Files of COPY over HTTP: loads and dumps as jobs, bodies with rows, uploads in pieces.
@NullMarked
package dev.kakehashi.rest.bulk;

import org.jspecify.annotations.NullMarked;
