// Waits for a condition by looking at it, with a deadline; never for a time that was guessed.

const LOOK_MS = 20

/** Looks until the condition holds; throws with its name when the deadline passes. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs: number,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`after ${withinMs} ms still not: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
