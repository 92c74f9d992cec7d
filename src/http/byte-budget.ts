export type ByteBudget = ReturnType<typeof createByteBudget>;

/** A limit for the bytes that clients make the gateway hold in memory. Beyond it, the oldest holders are evicted. */
export function createByteBudget(maxBytes: number) {
  const holders = new Set<() => void>();
  let totalBytes = 0;
  return {
    /** @param onEvict is called after the bytes were released */
    hold(onEvict: () => void) {
      let heldBytes = 0;
      const release = () => {
        totalBytes -= heldBytes;
        heldBytes = 0;
        holders.delete(evict);
      };
      const evict = () => {
        release();
        onEvict();
      };
      holders.add(evict);
      return {
        add(bytes: number): void {
          heldBytes += bytes;
          totalBytes += bytes;
          for (const evictOldest of holders) if (totalBytes > maxBytes) evictOldest();
        },
        /** From now on, the bytes are held until they are released. */
        protect: () => holders.delete(evict),
        release,
      };
    },
  };
}
