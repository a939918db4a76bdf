import { type Forgetting, NO_PLAN } from '../core/forgetting.ts'
import { type MediaId, madeAt, type SessionId, type TurnId } from '../core/ids.ts'
import { DELIVERY_STATES, hasEnded, type RenderedPart } from '../core/outbound.ts'
import type { InboxOutcome } from '../core/turn-end.ts'
import type { ReceivedRow, RetentionMark, SentRow } from './forget-port.ts'
import {
  addressIn,
  decisionIn,
  defined,
  dispatchIn,
  id,
  integer,
  json,
  oneOf,
  optional,
  type RowCodec,
  text,
} from './rows.ts'

export const codec: RowCodec<Forgetting> = {
  table: 'forgettings',
  key: ['id'],
  decode: (row) => ({
    id: text(row, 'id'),
    state: oneOf(row, 'state', ['running', 'done']),
    plan: optional(row, 'plan', json<Forgetting['plan']>) ?? NO_PLAN,
    counts: json(row, 'counts'),
    askedAt: integer(row, 'asked_at'),
  }),
}

export const receivedCodec: RowCodec<ReceivedRow> = {
  table: 'inbox',
  key: ['id'],
  decode: (row) => ({
    no: integer(row, 'no'),
    id: id(row, 'id'),
    state: oneOf(row, 'state', ['waiting', 'claimed', 'done']),
    dispatch: dispatchIn(row, 'dispatch'),
    decision: decisionIn(row, 'decision'),
    ...defined({
      sessionId: optional(row, 'session_id', id<SessionId>),
      turnId: optional(row, 'turn_id', id<TurnId>),
      outcome: optional(row, 'outcome', text) as InboxOutcome | undefined,
    }),
  }),
}

export const sentCodec: RowCodec<SentRow> = {
  table: 'outbox',
  key: ['source'],
  decode(row) {
    const parts = [json<RenderedPart>(row, 'part'), optional(row, 'earlier', json<RenderedPart>)]
    return {
      no: integer(row, 'no'),
      source: id(row, 'source'),
      traceId: id(row, 'trace_id'),
      address: addressIn(row, 'address'),
      // Words that it quotes are known by their name, and go alone.
      text: parts.map((part) => part?.quoting?.plain ?? part?.plain ?? '').join('\n'),
      at: madeAt(text(row, 'id')) ?? 0,
      ended: hasEnded(oneOf(row, 'state', DELIVERY_STATES)),
      ...defined({
        sessionId: optional(row, 'session_id', id<SessionId>),
        messageId: optional(row, 'message_id', text),
        startedAt: optional(row, 'started_at', integer),
        media: optional(row, 'media', id<MediaId>) ?? parts[0]?.file?.media,
      }),
    }
  },
}

export const markCodec: RowCodec<RetentionMark> = {
  table: 'retention_marks',
  key: ['rule'],
  decode: (row) => ({
    rule: text(row, 'rule'),
    days: integer(row, 'days'),
    reportedAt: integer(row, 'reported_at'),
    startsAt: integer(row, 'starts_at'),
    ...defined({ seenAt: optional(row, 'seen_at', integer) }),
  }),
}
