import { awaitOutcome } from './decision.ts'
import { isIn } from './platform-stage.ts'
import type { Stage } from './stage.ts'

/** The schedule of the demo's configuration. */
export const DIGEST_ID = 'workshop-news'

const DIGEST_WITHIN_MS = 60_000

/** Runs the schedule by hand, as `parley schedule run` does, instead of waiting for its time. */
export async function scheduledDigest(stage: Stage): Promise<void> {
  const { platforms, cast, daemon, printer } = stage
  const { chat = '', topic = null } = cast.places.garden
  const garden = isIn({ chat, topic })
  const [telegram, discord] = [platforms.telegram.mark(), platforms.discord.mark()]

  printer.note(`$ parley schedule run ${DIGEST_ID}`)
  const { traceId } = (await daemon.ask(`/v1/schedules/${DIGEST_ID}/run`, 'POST')) as { readonly traceId: string }
  const whole = /drill[\s\S]*boiler/
  const options = { after: telegram, timeoutMs: DIGEST_WITHIN_MS }
  const { shown } = await platforms.telegram.next((version) => garden(version) && whole.test(version.text), options)
  printer.answered('garden', shown.text)
  const outcome = await awaitOutcome(daemon, { message: traceId, chat })
  stage.check(
    outcome === 'answered',
    'what was said in the channel and its thread on Discord is told in a topic on Telegram',
  )
  const delivered = platforms.telegram.shown(telegram).filter(({ change }) => change === 'sent')
  const once = delivered.length === 1 && delivered.every(garden)
  stage.check(once && platforms.discord.shown(discord).length === 0, 'once, in Garden, and nowhere else')
}
