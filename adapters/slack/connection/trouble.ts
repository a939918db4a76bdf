import { ChannelDown } from '../../../src/channels/adapter.ts'
import { whyUnanswered } from '../../../src/core/wire-error.ts'
import { isTokenRefusal } from '../outbound/receipts.ts'
import { type CallOutcome, type Refusal, readRefusal } from './client.ts'
import { NotOpened } from './socket-connection.ts'

/** A reason why an account does not work: one line for the operator, with the remedy. */
export interface ConnectTrouble {
  readonly detail: string
  /** Useless to try soon: somebody has to mend it. */
  readonly permanent: boolean
}

const BOT_TOKEN =
  'Slack refuses the bot token: it was revoked or mistyped; install the app again and take the new one (OAuth & Permissions)'
const APP_TOKEN =
  'Slack refuses the app-level token: it was revoked or mistyped; make one with connections:write (Basic Information)'
export const SOCKET_MODE_OFF = 'Socket Mode is switched off for this app: switch it on, or use mode "http"'

export const UNPROVEN =
  'Slack greeted a connection, but for 60 s no event came and auth.test was not answered; connecting anew'

export const DEAF =
  'Slack shows messages that came by no event; they are read back, and where there is a connection it is begun anew'

/** Why a call with the bot token did not work. */
export function botTrouble(outcome: Exclude<CallOutcome, { kind: 'answered' }>): ConnectTrouble {
  const reason = outcome.kind === 'failed' ? outcome.reason : outcome.stranger
  if (outcome.kind === 'failed' || reason !== undefined) return { detail: `Slack: ${reason}`, permanent: false }
  if (!isTokenRefusal(outcome)) {
    const remedy =
      outcome.error === 'unknown_method' ? ', which the Slack Web API never answers to it: check apiRoot' : ''
    return { detail: `Slack refused auth.test: ${said(outcome)}${remedy}`, permanent: false }
  }
  return { detail: `${BOT_TOKEN} (${outcome.error})`, permanent: true }
}

/** Why a connection could not be opened. */
export function connectionTrouble(error: unknown): ConnectTrouble {
  if (error instanceof NotOpened) return { detail: `Slack: ${error.message}`, permanent: false }
  const refusal = readRefusal(error)
  if (refusal === null) {
    return { detail: `Slack: no connection: ${whyUnanswered(error).slice(0, 300)}`, permanent: false }
  }
  if (refusal.error === 'missing_scope' || isTokenRefusal(refusal)) {
    return { detail: `${APP_TOKEN} (${said(refusal)})`, permanent: true }
  }
  return { detail: `Slack refused a connection: ${said(refusal)}`, permanent: false }
}

export function toChannelDown({ detail, permanent }: ConnectTrouble): ChannelDown {
  return new ChannelDown(detail, { permanent })
}

function said({ error, needed }: Refusal): string {
  return needed === undefined ? error : `${error}: ${needed}`
}
