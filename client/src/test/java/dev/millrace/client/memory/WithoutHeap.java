package dev.millrace.client.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A program for a small heap, which it uses up: once before a buffer comes back, and once before one more thread waits
 * than a queue of usual size holds, with 16 bytes more left each time, so that every allocation is the one that fails.
 * It prints what is wrong, or {@link #ALL_IS_WELL}.
 */
final class WithoutHeap {
    static final String ALL_IS_WELL = "all is well";

    private static final int WAITING = 16;
    private static final int MOST_FREE_NODES = 40;

    private static Node filling;

    private WithoutHeap() {}

    /** 16 bytes. */
    private static final class Node {
        private final Node next;

        Node(Node next) {
            this.next = next;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        List<String> wrong = new ArrayList<>();
        takeBack(wrong);
        for (int free = 1; free < MOST_FREE_NODES; free++) {
            addWaiter(free, wrong);
        }
        System.out.println(wrong.isEmpty() ? ALL_IS_WELL : String.join("\n", wrong));
        System.exit(0);
    }

    private static void takeBack(List<String> wrong) throws InterruptedException {
        BufferPool pool = new BufferPool(1 << 16, 1 << 10, () -> {});
        byte[][] buffers = new byte[64][];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = pool.acquire(1 << 10, 0, () -> true);
        }
        Throwable thrown = null;
        fillHeap(0);
        try {
            for (byte[] buffer : buffers) {
                pool.release(buffer);
            }
        } catch (OutOfMemoryError e) {
            thrown = e;
        }
        filling = null;
        if (thrown != null || pool.available() != pool.total()) {
            wrong.add("Buffers came back: " + thrown + ", and " + pool.available() + " bytes of " + pool.total());
        }
    }

    private static void addWaiter(int freeNodes, List<String> wrong) throws InterruptedException {
        AtomicInteger memory = new AtomicInteger();
        AtomicInteger served = new AtomicInteger();
        MemoryWaiters waiters = new MemoryWaiters(size -> take(memory, size), () -> false, () -> {}, Long.MAX_VALUE);
        waitInVain(waiters, 0); // so that all classes are loaded
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < WAITING; i++) {
            Thread thread = new Thread(() -> waitFor(waiters, served));
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        while (waiters.count() < WAITING) {
            Thread.onSpinWait();
        }
        waitInVain(waiters, freeNodes);
        filling = null;
        int left = waiters.count();
        memory.set(WAITING);
        waiters.wakeFirst();
        for (Thread thread : threads) {
            thread.join(left == WAITING ? 30_000 : 100);
        }
        if (served.get() < WAITING || waiters.bytesWanted() != 0 || waiters.bytesForFirst() != 0) {
            wrong.add("With " + freeNodes + " nodes free: " + left + " waited, " + served
                    + " were served, bytes wanted " + waiters.bytesWanted() + " and " + waiters.bytesForFirst());
        }
    }

    private static void waitInVain(MemoryWaiters waiters, int freeNodes) throws InterruptedException {
        if (freeNodes > 0) {
            fillHeap(freeNodes);
        }
        try {
            waiters.await(1, 0, WithoutHeap::isNeeded);
        } catch (OutOfMemoryError | RuntimeException e) {
            // there is no memory of either kind
        }
    }

    private static boolean isNeeded() {
        return true;
    }

    private static void waitFor(MemoryWaiters waiters, AtomicInteger served) {
        try {
            if (waiters.await(1, 60_000, () -> true)) {
                served.incrementAndGet();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean take(AtomicInteger memory, int size) {
        int seen = memory.get();
        return seen >= size && memory.compareAndSet(seen, seen - size);
    }

    private static void fillHeap(int freeNodes) {
        try {
            while (true) {
                filling = new Node(filling);
            }
        } catch (OutOfMemoryError e) {
            for (int i = 0; i < freeNodes; i++) {
                filling = filling.next;
            }
        }
    }
}
