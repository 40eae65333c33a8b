import { defineSignal } from '@temporalio/workflow'

/** Operators see it in the Temporal UI. */
export const IMPORT_SUMMARY = 'Create the posts of an import'

/** The signal of the workflow `applyImport`: the import may have rows to create again. */
export const wakeImportSignal = defineSignal('wakeImport')
