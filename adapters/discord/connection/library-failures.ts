/**
 * The gateway's library starts work that nobody waits for, and a frame that it cannot read (a READY or HELLO without
 * `d`) makes that work reject: by itself an end of the process. Here, and nowhere else, such a rejection is taken: one
 * whose error was thrown by the library's own code, which its stack proves. Any other ends the process as ever.
 */
const NAME = /^DiscordGateway_\d+$/
/** The function that threw, and what it was called on: `at DiscordGateway_1.onMessage (file:…)`. */
const THROWER = /^\s*at (?:async )?(\w+)\.\w+ \(/

const owners = new Map<string, (error: Error) => void>()
let named = 0

/**
 * Gives an object of the library a name that stacks show, and has `failed` called for what its methods reject with. The
 * returned function takes that back; what the object rejects with later is dropped.
 */
export function takeFailures(object: object, failed: (error: Error) => void): () => void {
  if (named === 0) process.on('unhandledRejection', take)
  const name = `DiscordGateway_${++named}`
  // V8 writes this name into stacks, in place of the class's.
  Object.defineProperty(object, Symbol.toStringTag, { value: name })
  owners.set(name, failed)
  return () => owners.delete(name)
}

/** Returns the name of the library's object whose method threw an error; undefined when anything else threw it. */
export function throwerOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.stack === undefined) return undefined
  const head = error.stack.indexOf(error.message)
  const [, first = ''] = error.stack.slice(Math.max(head, 0) + error.message.length).split('\n')
  const name = THROWER.exec(first)?.[1]
  return name !== undefined && NAME.test(name) ? name : undefined
}

function take(reason: unknown): void {
  const name = throwerOf(reason)
  if (name === undefined) throw reason
  owners.get(name)?.(reason as Error)
}
