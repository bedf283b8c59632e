// Pure: which settings of a peer race in earnest, and what a round says of ours beside them.

/** The fastest of the heats, the very fastest first. */
export function bestOf<Setting>(
  heats: readonly { setting: Setting; rate: number }[],
  count: number,
): Setting[] {
  return heats
    .toSorted((a, b) => b.rate - a.rate)
    .slice(0, count)
    .map(({ setting }) => setting)
}

/** Of each round our rate ÷ that of the fastest of these in it: what disturbed a round disturbed all. */
export function ratiosOf(ours: readonly number[], peers: readonly (readonly number[])[]): number[] {
  return ours.map((rate, round) => rate / Math.max(...peers.map((rates) => rates[round] ?? Number.NaN)))
}
