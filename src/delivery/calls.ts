/** Calls to platforms under way, each with a signal of its own, so that none leaves listeners on a long-lived one. */
export interface Calls {
  make<T>(call: (control: AbortController) => Promise<T>): Promise<T>
  /** Aborts every call under way, and each later one at once. */
  abort(): void
}

export function createCalls(): Calls {
  const underWay = new Set<AbortController>()
  let aborted = false
  return {
    async make(call) {
      const control = new AbortController()
      if (aborted) control.abort()
      underWay.add(control)
      try {
        return await call(control)
      } finally {
        underWay.delete(control)
      }
    },
    abort() {
      aborted = true
      for (const control of underWay) control.abort()
    },
  }
}
