import type { WhyReport, WhyStep } from '../../core/operator.ts'
import { list, maybe, object, oneOf, text, texts, time } from './shape.ts'

type Part<Name extends keyof WhyReport> = NonNullable<WhyReport[Name]>

const step = object<WhyStep>({
  stage: text,
  verdict: oneOf({ pass: true, stop: true }),
  because: text,
  config: maybe(text),
})

export const why = list(
  object<WhyReport>(
    {
      summary: maybe(text),
      inboxId: text,
      traceId: text,
      receivedAt: time,
      event: text,
      messageId: maybe(text),
      address: text,
      title: maybe(text),
      sender: object<Part<'sender'>>({ id: text, name: maybe(text) }),
      decision: text,
      reason: text,
      steps: list(step),
      precheck: maybe(text),
      silence: maybe(text),
      budget: maybe(text),
      context: maybe(text),
      questions: maybe(texts),
      denied: maybe(list(object<Part<'denied'>[number]>({ tool: text, reason: text }))),
      session: maybe(text),
      turn: maybe(text),
      outcome: text,
      failure: maybe(object<Part<'failure'>>({ code: text, cause: text, remedy: text })),
      deliveries: list(
        object<Part<'deliveries'>[number]>({ state: text, messageId: maybe(text), reason: maybe(text) }),
      ),
    },
    'Why',
  ),
)
