import type { FaultAction, FaultBook, FaultRule } from '../../../src/rehearsal/faults.ts'
import type { PlannedFault, Platform } from './plan.ts'
import type { Stage } from './stage.ts'

/** Plays a fault; `ended` is called when it is over, so that nothing of it lasts beyond the soak. */
export function playFault(stage: Stage, platform: Platform, fault: PlannedFault): () => void {
  if (fault.kind === 'half-open') return lasting(fault, halfOpen(stage, platform))
  if (fault.kind === 'cut') cutSockets(stage, platform)
  return lasting(fault, onCalls(stage, platform, fault))
}

/** Ends by itself, or earlier when what is returned is called. */
function lasting({ forMs }: PlannedFault, end: () => void): () => void {
  let over = false
  const once = (): void => {
    if (over) return
    over = true
    clearTimeout(timer)
    end()
  }
  const timer = setTimeout(once, forMs)
  return once
}

function onCalls(stage: Stage, platform: Platform, fault: PlannedFault): () => void {
  const rule = { times: Number.POSITIVE_INFINITY, action: actionOf(platform, fault) }
  switch (platform) {
    case 'telegram':
      return added(stage.telegram.faults, rule)
    case 'discord':
      return added(stage.discord.faults, rule)
    case 'slack':
      return added(stage.slack.faults, rule)
  }
}

/** What is held is cut at the end: the answer never comes. */
function added<Call extends { readonly method: string }>(faults: FaultBook<Call>, rule: FaultRule<Call>): () => void {
  const fault = faults.add(rule)
  return () => {
    fault.remove()
    fault.release('drop')
  }
}

function actionOf(platform: Platform, { kind, when }: PlannedFault): FaultAction {
  switch (kind) {
    case '502':
      return { kind: 'answer', when, status: 502, body: '<html>Bad Gateway</html>' }
    case 'cut':
      return { kind: 'reset', when }
    case '429':
      // Whoever is told to wait was not served.
      return { kind: 'answer', when: 'before', status: 429, body: tooMany[platform], headers: { 'retry-after': '1' } }
    case 'silence':
    case 'half-open':
      return { kind: 'hold', when }
  }
}

const tooMany: Readonly<Record<Platform, object>> = {
  telegram: {
    ok: false,
    error_code: 429,
    description: 'Too Many Requests: retry after 1',
    parameters: { retry_after: 1 },
  },
  discord: { message: 'You are being rate limited.', retry_after: 1, global: false },
  slack: { ok: false, error: 'ratelimited' },
}

function cutSockets({ discord, slack }: Stage, platform: Platform): void {
  if (platform === 'discord') discord.gateway.cut()
  if (platform === 'slack') slack.sockets.cut()
}

/** The way in stands and nothing comes by it, while calls are served. */
function halfOpen({ telegram, discord, slack }: Stage, platform: Platform): () => void {
  switch (platform) {
    case 'telegram': {
      const action = { kind: 'hold', when: 'before' } as const
      return added(telegram.faults, { method: 'getUpdates', times: Number.POSITIVE_INFINITY, action })
    }
    case 'discord':
      discord.gateway.acknowledges = false
      discord.gateway.muted = true
      return () => {
        discord.gateway.acknowledges = true
        discord.gateway.muted = false
        // The real one ends a connection it has lost; what was not told in it is never told again.
        discord.gateway.forgetSessions()
        discord.gateway.cut()
      }
    case 'slack':
      slack.sockets.mute()
      return () => slack.sockets.cut()
  }
}
