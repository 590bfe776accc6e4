/// `load`, `dump` and `inspect`: rows between tables and files, on either side of the endpoint.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.tools.bulk;
