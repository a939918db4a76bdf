import { Telegraf } from 'telegraf'
import { onTestFinished } from 'vitest'
import type { TelegramServer, TelegramServerOptions } from '../../../src/rehearsal/telegram/server.ts'
import { startTelegramServer } from '../../../src/rehearsal/telegram/server.ts'

/** A server for one test, closed at its end. */
export async function rehearse(options: TelegramServerOptions = {}): Promise<TelegramServer> {
  const server = await startTelegramServer(options)
  onTestFinished(() => server.close())
  return server
}

/** The real client, with untyped method names. */
export function clientOf(
  server: TelegramServer,
  token = server.token,
): (method: string, params?: object) => Promise<unknown> {
  const { telegram } = new Telegraf(token, { telegram: { apiRoot: server.apiRoot } })
  return (method, params = {}) => telegram.callApi(method as 'getMe', params as never)
}

export interface RawAnswer {
  status: number
  body: { ok: boolean; result?: unknown; error_code?: number; description?: string; parameters?: object }
}

/** A call without any client library, so that status and body can be looked at. */
export async function raw(server: TelegramServer, method: string, params: object = {}): Promise<RawAnswer> {
  const response = await fetch(`${server.apiRoot}/bot${server.token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(params),
  })
  return { status: response.status, body: (await response.json()) as RawAnswer['body'] }
}

/** The description of a refusal, and "accepted" where there was none. */
export async function refusal(server: TelegramServer, method: string, params: object): Promise<string> {
  const { body } = await raw(server, method, params)
  return body.ok ? 'accepted' : `${body.error_code} ${body.description}`
}

/** Why updates were kept from the bot, in order. */
export function withheldReasons(server: TelegramServer): string[] {
  return server.ledger.entries.flatMap((entry) => (entry.kind === 'withheld' ? [entry.reason] : []))
}
