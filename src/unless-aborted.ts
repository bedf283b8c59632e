// The answer of a call, unless a signal fires before: the call goes on, and what it answers concerns nobody.

export async function unlessAborted<Answer>(call: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([call, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
