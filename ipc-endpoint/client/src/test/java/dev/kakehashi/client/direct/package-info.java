@org.jspecify.annotations.NullMarked
package dev.kakehashi.client.direct;
