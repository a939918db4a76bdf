import { expect, test } from 'vitest'
import type { CallOutcome, SlackClient } from '../../../adapters/slack/connection/client.ts'
import { fetchFile } from '../../../adapters/slack/inbound/fetch-file.ts'
import { systemClock } from '../../../src/core/clock.ts'

function fetched(outcome: CallOutcome) {
  const client: SlackClient = { call: async () => outcome, close: () => {} }
  const ports = { client, clock: systemClock, token: 'xoxb', apiRoot: undefined }
  return fetchFile(ports, { ref: 'F1', most: 1_000 }, new AbortController().signal)
}

test.each([
  ['file_not_found', 'the platform does not have it any more'],
  ['file_deleted', 'it was deleted'],
  ['access_denied', 'the bot may not read it'],
  ['not_visible', 'the bot may not read it'],
  ['ekm_access_denied', 'the administrators of the workspace have suspended access to it'],
  ['file_under_review', 'the administrators of the workspace review it'],
  ['missing_scope', 'the bot may not read it; the app needs the scope files:read'],
  ['method_deprecated', 'the platform refused it: method_deprecated'],
  ['constructor', 'the platform refused it: constructor'],
])('a file that is refused with %s is not asked for again, and is named with the reason', async (error, reason) => {
  expect(await fetched({ kind: 'refused', error })).toEqual({ kind: 'refused', reason })
})

test.each(['ratelimited', 'service_unavailable', 'team_added_to_org', 'invalid_auth', 'http_429'])(
  'a file that is refused with %s, which passes, is asked for again',
  async (error) => {
    const reason = `the platform could not give it: ${error}`
    expect(await fetched({ kind: 'refused', error })).toEqual({ kind: 'failed', reason })
  },
)
