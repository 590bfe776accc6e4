/// Classes that Chronicle generates when the endpoint starts, compiled when it is built.
package net.openhft.chronicle.hash;
