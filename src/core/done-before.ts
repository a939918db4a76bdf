/** The marks of what is done once (`store` `notices`). */
interface Marks {
  readonly notices: {
    once(key: string, at: number, windowMs: number): Promise<boolean>
    known(key: string): Promise<boolean>
  }
}

const FOR_EVER_MS = Number.MAX_SAFE_INTEGER

/**
 * Marks, in the commit of its effect, that a request has removed something. A request that runs again after a crash
 * finds nothing any more, and is to say that it is done.
 */
export async function markDone({ notices }: Marks, request: string, at: number): Promise<void> {
  await notices.once(`done:${request}`, at, FOR_EVER_MS)
}

/** Returns true if this very request has done it before. */
export function isDoneBefore({ notices }: Marks, request: string): Promise<boolean> {
  return notices.known(`done:${request}`)
}
