import type { EventDraft, PostedData } from '../../core/event.ts'
import type { TurnId } from '../../core/ids.ts'
import type { AttachmentRef } from '../../core/message.ts'
import { addUsage, type ModelMessage, NO_USAGE } from '../../core/model.ts'
import type { OpenStep, TurnRequest } from '../../core/turn.ts'
import { sourceOf } from './history-view.ts'
import { isUnread, type ReceivedMessage } from './received.ts'

/** The turn that runs, as far as its journal says. */
export interface RunningTurn {
  readonly id: TurnId
  readonly received: readonly ReceivedMessage[]
  /** The notes before the messages. */
  readonly notes: readonly string[]
  /** Texts that other sessions delivered here meanwhile; they belong behind this turn. */
  readonly posted: readonly PostedData[]
  readonly steps: readonly ModelMessage[]
  readonly open: OpenStep | undefined
  /** The model calls and tokens of the steps so far. */
  readonly spent: TurnRequest['spent']
  readonly answer: string | undefined
}

const NONE: readonly never[] = []

/** A turn of which nothing is recorded but its start. */
export const BEGINNING = {
  posted: NONE,
  steps: NONE,
  open: undefined,
  spent: { steps: 0, usage: NO_USAGE },
  answer: undefined,
} satisfies Partial<RunningTurn>

type StepEvent = Extract<EventDraft, { type: 'assistant_step' | 'tool_call' | 'tool_result' | 'assistant_message' }>

/** Adds a step of the turn, or what belongs to one. */
export function advance(running: RunningTurn, event: StepEvent): RunningTurn {
  switch (event.type) {
    case 'assistant_step': {
      const calls = event.data.calls.map((call) => ({ id: call.callId, name: call.tool, args: call.args }))
      const { text, opaque, cut } = event.data
      const step: ModelMessage = { role: 'assistant', text, calls, ...(opaque === undefined ? {} : { opaque }) }
      const spent = { steps: running.spent.steps + 1, usage: addUsage(running.spent.usage, event.data.usage) }
      const open: OpenStep = { calls, results: [], intended: [], ...(cut ? { cut } : {}) }
      return { ...running, steps: [...running.steps, step], spent, open }
    }
    case 'tool_call':
      return running.open
        ? { ...running, open: { ...running.open, intended: [...running.open.intended, event.data.callId] } }
        : running
    case 'tool_result':
      return running.open
        ? settle(running, { ...running.open, results: [...running.open.results, event.data] })
        : running
    case 'assistant_message':
      return { ...running, answer: event.data.text }
  }
}

/** Once every call of the open step has its result, the step becomes ordinary history of the turn. */
function settle(running: RunningTurn, open: OpenStep): RunningTurn {
  if (open.results.length < open.calls.length) return { ...running, open }
  const results = open.results.map(({ callId, content, isError }) => ({ id: callId, content, isError }))
  return { ...running, steps: [...running.steps, { role: 'tool', results }], open: undefined }
}

/** A file of the running turn that no turn has read. */
export interface UnreadFile {
  readonly file: AttachmentRef
  readonly message: ReceivedMessage
}

/**
 * Returns the files of the running turn that were not read yet, each once: first those of messages that ask something,
 * then those that were said besides, the newest first. Pure.
 */
export function unreadFiles(running: RunningTurn): readonly UnreadFile[] {
  const joined = running.steps.flatMap((step) => sourceOf(step)?.received ?? [])
  const received = [...running.received, ...joined].filter(({ attachments, deleted }) => attachments && !deleted)
  if (received.length === 0) return []
  const asking = received.filter(({ triggers }) => triggers)
  const besides = received.filter(({ triggers }) => !triggers).reverse()
  const files = [...asking, ...besides].flatMap((message) =>
    (message.attachments ?? []).filter(isUnread).map((file): [string, UnreadFile] => [file.ref, { file, message }]),
  )
  return [...new Map(files.reverse()).values()].reverse()
}
