/** A promise that somebody else resolves. It is never rejected. */
export interface Deferred {
  readonly promise: Promise<void>
  resolve(): void
}

export function deferred(): Deferred {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve: () => resolve() }
}
