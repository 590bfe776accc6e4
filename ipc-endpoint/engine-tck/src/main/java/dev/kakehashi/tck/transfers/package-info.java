/// The transfer trial: money is moved while what keeps it is killed, and afterwards every account has to be right. A program that judges
/// any engine behind `engine-api`.
@NullMarked
package dev.kakehashi.tck.transfers;

import org.jspecify.annotations.NullMarked;
