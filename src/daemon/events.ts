import type { AccountAt, OwnerNotice } from '../core/owner-notice.ts'

/** Something that happens more than once, told to whoever subscribed before. */
export interface DaemonEvent<Value> {
  emit(this: void, value: Value): void
  on(this: void, listener: (value: Value) => void): void
}

/** What parts of the daemon tell each other without knowing each other. Made before all of them. */
export interface DaemonEvents {
  /** Who is known, or who an owner is, has changed. */
  readonly peopleChanged: DaemonEvent<void>
  /** Something that the owners should be told in private. */
  readonly ownerNotice: DaemonEvent<{ readonly where: AccountAt; readonly notice: OwnerNotice }>
}

export function createEvents(): DaemonEvents {
  return { peopleChanged: createEvent(), ownerNotice: createEvent() }
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
