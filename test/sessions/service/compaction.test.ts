import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { NO_USAGE } from '../../../src/core/model.ts'
import type { TurnResult } from '../../../src/core/turn.ts'
import { type CompactionDeps, createCompaction } from '../../../src/sessions/service/compaction.ts'
import { movedClock } from '../../agent/moved-clock.ts'
import { turnRequest } from '../../agent/turns.ts'

/** Returns whether a summary begins behind a turn that ended so; the session itself has too few messages for one. */
function begins(result: Partial<TurnResult>, contextTokens?: number): boolean {
  let looked = false
  const deps = {
    ...{ clock: movedClock(), logger: silentLogger, store: {}, summarize: async () => undefined },
    running: {
      stopping: new AbortController().signal,
      nextEnd: () => {
        looked = true
        return new Promise(() => {})
      },
    },
    agent: () => ({ ...turnRequest().agent, ...(contextTokens === undefined ? {} : { contextTokens }) }),
  } as unknown as CompactionDeps
  const session = { id: turnRequest().sessionId } as Parameters<
    ReturnType<typeof createCompaction>['ended']
  >[0]['session']
  createCompaction(deps).ended({ session }, { usage: NO_USAGE, steps: 1, ...result } as TurnResult)
  return looked
}

const read = (tokens: number, window?: number): Partial<TurnResult> => ({
  ...{ kind: 'final', text: 'yes', model: 'fake/model' },
  context: { read: tokens, shortened: false, ...(window === undefined ? {} : { window }) },
})

it.each([
  ['80 % of the configured window', read(80), 100, true],
  ['less than that', read(79), 100, false],
  ['80 % of the window that the server has named', read(6_554, 8_192), undefined, true],
  ['less than that', read(6_553, 8_192), undefined, false],
  ['80 % of the window that the server has named, and less of the configured one', read(6_554, 8_192), 100_000, false],
  ['any number of tokens where no window is known', read(1_000_000), undefined, false],
])('R18: a turn that read %s: %o', (_, result, contextTokens, expected) => {
  expect(begins(result, contextTokens)).toBe(expected)
})
