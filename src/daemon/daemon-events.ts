import type { BudgetHit, BudgetState, Charge } from '../core/budget.ts'
import type { SourceId } from '../core/ids.ts'
import type { GrownText } from '../core/operate-events.ts'
import type { AccountAt, OwnerNotice } from '../core/owner-notice.ts'

/** An event that may happen repeatedly; everybody who subscribed before is called. */
export interface DaemonEvent<Value> {
  emit(this: void, value: Value): void
  on(this: void, listener: (value: Value) => void): void
}

/** A budget of which most is spent, or that a call did not fit. */
export type BudgetEvent =
  | { readonly kind: 'past'; readonly budget: BudgetState; readonly charge: Charge }
  | { readonly kind: 'stopped'; readonly budget: BudgetHit; readonly charge: Charge }

/** The events between parts of the daemon that do not know each other. They are made before all parts. */
export interface DaemonEvents {
  /** Called when the known people or their owners have changed. */
  readonly peopleChanged: DaemonEvent<void>
  /** Called with a notice for the owners, who read it in private. */
  readonly ownerNotice: DaemonEvent<{ readonly where: AccountAt; readonly notice: OwnerNotice }>
  /** Called with a budget of which people may have to be notified; often for the same one. */
  readonly budget: DaemonEvent<BudgetEvent>
  /** Called whenever the answer of a running turn has grown, with its text so far, raw. Cheap. */
  readonly answerGrew: DaemonEvent<GrownText>
  /** Called with the source of a part whose state has changed on record. Cheap. */
  readonly partMoved: DaemonEvent<SourceId>
}

export function createEvents(): DaemonEvents {
  return {
    ...{ peopleChanged: createEvent(), ownerNotice: createEvent(), budget: createEvent() },
    ...{ answerGrew: createEvent(), partMoved: createEvent() },
  }
}

function createEvent<Value>(): DaemonEvent<Value> {
  const listeners: ((value: Value) => void)[] = []
  return {
    emit(value) {
      for (const listener of listeners) listener(value)
    },
    on(listener) {
      listeners.push(listener)
    },
  }
}
