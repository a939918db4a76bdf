import type { CallOperation } from './call.ts'
import { operatorOperations } from './operator-operations.ts'
import { partOperations } from './part-operations.ts'
import { sessionOperations } from './session-operations.ts'

/** Returns every operation of the document under its name: `agent.prompt`. */
export function operationsOf(call: CallOperation) {
  const [sessions, parts] = [sessionOperations(call), partOperations(call)]
  return { ...sessions, ...operatorOperations(call), ...parts, agent: { ...sessions.agent, ...parts.agent } }
}

type Operations = ReturnType<typeof operationsOf>
type Method = (...given: never[]) => Promise<unknown>

/** The answer of each operation, by its name in the document. */
export type OperationAnswers = {
  readonly [Name in OperationName]: Name extends `${infer Noun extends keyof Operations}.${infer Verb}`
    ? Verb extends keyof Operations[Noun]
      ? Operations[Noun][Verb] extends Method
        ? Awaited<ReturnType<Operations[Noun][Verb]>>
        : never
      : never
    : never
}

export type OperationName = {
  [Noun in keyof Operations]: `${Noun}.${keyof Operations[Noun] & string}`
}[keyof Operations]
