package dev.kakehashi.scheduler;

/// What a running task sees of its scheduler.
public interface TaskContext {}
