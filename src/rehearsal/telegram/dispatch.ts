import type { Answer } from '../http-server.ts'
import { ApiError } from './api-error.ts'
import type { BotApi } from './bot-api.ts'
import { fileAt } from './files.ts'
import { getUpdates } from './get-updates.ts'
import type { CallAnswer } from './ledger-entries.ts'
import type { Method } from './methods.ts'
import { asNumberedFor } from './own-numbers.ts'
import type { Params } from './params.ts'
import type { QueuedUpdate } from './update-queue.ts'

/** A call that was recognised: its bot, its method and its parameters. */
export interface TelegramCall {
  readonly botId: number
  readonly method: string
  readonly params: Params
}

export interface Dispatch {
  readonly api: BotApi
  readonly call: TelegramCall
  readonly run: Method
  /** The kind of the fault the call meets, for the ledger. */
  readonly fault: string | undefined
  /** Returns a signal that aborts when the caller hangs up; made on demand. */
  gone(): AbortSignal
}

/** Performs the call, records it in the ledger, and returns the bytes of the answer; only a poll takes time. */
export function perform(dispatch: Dispatch): Answer | Promise<Answer> {
  const { api, call, run } = dispatch
  try {
    if (call.method === 'getUpdates') return performPoll(dispatch)
    if (call.method === 'download') return performDownload(dispatch)
    return settle(dispatch, { ok: true, result: asNumberedFor(api.bot, run(api, call.params)) })
  } catch (error) {
    return refuse(dispatch, error)
  }
}

export function errorAnswer(error: ApiError): Answer {
  return { status: error.code, body: JSON.stringify(errorBody(error)) }
}

/** Records a call that a fault ended before it did anything. */
export function recordSkipped({ api, call, fault }: Dispatch): void {
  const { botId, method, params } = call
  const entry = { kind: 'call', at: api.world.now(), botId, method, params } as const
  api.ledger.append(fault === undefined ? entry : { ...entry, fault })
}

async function performPoll(dispatch: Dispatch): Promise<Answer> {
  try {
    const updates = await getUpdates(dispatch.api, dispatch.call.params, dispatch.gone())
    // The ledger keeps the ids; the updates themselves are in its `offered` entries and in the world.
    record(dispatch, { ok: true, result: updates.map((update) => update.id) })
    return { status: 200, body: `{"ok":true,"result":[${joinJson(updates)}]}` }
  } catch (error) {
    return refuse(dispatch, error)
  }
}

function joinJson(updates: readonly QueuedUpdate[]): string {
  return updates.map((update) => update.json).join(',')
}

/** The ledger keeps the path, not the bytes. */
function performDownload(dispatch: Dispatch): Answer {
  const { bytes } = fileAt(dispatch.api.world, String(dispatch.call.params.path))
  record(dispatch, { ok: true, result: { bytes: bytes.length } })
  return { status: 200, body: Buffer.from(bytes) }
}

function settle(dispatch: Dispatch, answer: CallAnswer & { ok: true }): Answer {
  record(dispatch, answer)
  return { status: 200, body: JSON.stringify(answer) }
}

function refuse(dispatch: Dispatch, error: unknown): Answer {
  if (!(error instanceof ApiError)) throw error
  record(dispatch, errorBody(error))
  return errorAnswer(error)
}

function errorBody({ code, message, parameters }: ApiError): CallAnswer {
  const body = { ok: false, error_code: code, description: message } as const
  return parameters === undefined ? body : { ...body, parameters }
}

function record({ api, call, fault }: Dispatch, answer: CallAnswer): void {
  const { botId, method, params } = call
  const entry = { kind: 'call', at: api.world.now(), botId, method, params, answer } as const
  api.ledger.append(fault === undefined ? entry : { ...entry, fault })
}
