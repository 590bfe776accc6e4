/// Files that outlive a process, by their purpose: records that are appended one by one ([RecordFile], [RecordFileReader]), and one state
/// that is replaced whole ([ReplacedFile]).
@NullMarked
package dev.kakehashi.protocol.file;

import org.jspecify.annotations.NullMarked;
