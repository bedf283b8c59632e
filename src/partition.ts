// Kafka's default partitioner: toPositive(murmur2(utf8(group))) mod P, so that a pool and a Kafka topic
// with the same number of partitions agree.

const SEED = 0x9747b28c
const M = 0x5bd1e995

/** murmur2 of the first `length` bytes, as a signed 32-bit number, as in org.apache.kafka.common.utils.Utils. */
export function murmur2(bytes: Uint8Array, length = bytes.length): number {
  let hash = SEED ^ length
  const whole = length & ~3
  for (let i = 0; i < whole; i += 4) {
    let word =
      (bytes[i] as number) |
      ((bytes[i + 1] as number) << 8) |
      ((bytes[i + 2] as number) << 16) |
      ((bytes[i + 3] as number) << 24)
    word = Math.imul(word, M)
    word ^= word >>> 24
    hash = Math.imul(hash, M) ^ Math.imul(word, M)
  }
  const rest = length & 3
  if (rest === 3) hash ^= (bytes[whole + 2] as number) << 16
  if (rest >= 2) hash ^= (bytes[whole + 1] as number) << 8
  if (rest >= 1) {
    hash ^= bytes[whole] as number
    hash = Math.imul(hash, M)
  }
  hash ^= hash >>> 13
  hash = Math.imul(hash, M)
  return hash ^ (hash >>> 15)
}

const encoder = new TextEncoder()
/** Room for any group's bytes: reused, since a new array for each would cost more than the hash. */
const scratch = new Uint8Array(2048)

/** The partition of a group among `partitions`. */
export function partitionOf(group: string, partitions: number): number {
  return hashOf(group) % partitions
}

/** toPositive(murmur2(utf8(text))): a partition is this modulo their number. */
export function hashOf(text: string): number {
  // A UTF-16 unit becomes three bytes at most.
  const isLong = text.length * 3 > scratch.length
  const hash = isLong
    ? murmur2(encoder.encode(text))
    : murmur2(scratch, encoder.encodeInto(text, scratch).written)
  return hash & 0x7fffffff
}
