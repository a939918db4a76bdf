import type { Stage } from './stage.ts'

/** Checks the whole tour against the ledgers: the messages people saw, and the calls the platforms refused. */
export function balance(stage: Stage): void {
  const platforms = Object.values(stage.platforms)
  const before = stage.failures
  for (const platform of platforms) {
    const marked = platform.shown().filter(({ text }) => /NO_REPLY|EMPTY_RESPONSE/.test(text))
    stage.check(marked.length === 0, `${platform.title}: no silence marker, and no part of one, was ever visible`)
    const refused = platform.refused()
    const which = refused.length === 0 ? '' : `: ${refused.join(', ')}`
    stage.check(refused.length === 0, `${platform.title}: the platform refused none of our calls${which}`)
  }
  const modelRefusals = stage.anthropic.ledger.all(({ kind }) => kind === 'refused')
  stage.check(modelRefusals.length === 0, 'the model refused none of our requests')
  stage.printer.title('The ledgers of the servers')
  if (stage.failures === before)
    stage.printer.check(true, 'no platform and no model refused a call, and no <NO_REPLY> was ever seen')
  const sent = platforms.flatMap((platform) => platform.shown()).filter(({ change }) => change === 'sent')
  stage.printer.note(`${sent.length} messages sent, ${stage.checks} checks, ${stage.failures} failed`)
}
