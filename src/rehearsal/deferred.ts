/** A promise with its resolver, for gates and waits. It is never rejected. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** The way a gate was opened: answer, cut the connection, or the server is closing. */
export type Release = 'answer' | 'drop' | 'closed'

/**
 * A place where a server stops until the test releases it. `reached` resolves when something first arrives at the gate;
 * after `release` everything that arrives passes at once.
 */
export interface Gate {
  readonly reached: Promise<void>
  release(how?: 'answer' | 'drop'): void
}

/** The side of a gate that the server uses. */
export interface GateKeeper extends Gate {
  /** Marks the gate as reached without stopping at it. */
  touch(): void
  /** Stops here until the gate is opened; `signal` (the server is closing) opens it with `closed`. */
  pass(): Promise<Release>
  close(): void
}

export function createGate(): GateKeeper {
  const reached = deferred<void>()
  const opened = deferred<Release>()
  return {
    reached: reached.promise,
    release: (how = 'answer') => opened.resolve(how),
    touch: () => reached.resolve(),
    pass: () => {
      reached.resolve()
      return opened.promise
    },
    close: () => opened.resolve('closed'),
  }
}
