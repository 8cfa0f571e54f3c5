export interface paths {
    "/api/account-changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Changes of bank accounts */
        get: operations["listAccountChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account-changes/decide": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Confirm or refuse changed bank accounts */
        post: operations["decideAccountChanges"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Alerts that last, then those that are over */
        get: operations["listAlerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The audit log, newest first */
        get: operations["listAuditEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/backfills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The newest backfills */
        get: operations["listBackfills"];
        put?: never;
        /** Pull a range day by day */
        post: operations["startBackfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/backfills/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How far a backfill is */
        get: operations["getBackfill"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/backfills/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a backfill; pulled dates stay */
        post: operations["cancelBackfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/booking-lines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Released lines by accepted date and state */
        get: operations["listBookingLines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/booking-status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The consumers, and the receipts that do not fit */
        get: operations["getBookingStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bookings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Released lines after a position, in their order */
        get: operations["listBookings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bookings/receipts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say which lines were posted, and which failed */
        post: operations["sendReceipts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/breaks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The breaks between titles and payables */
        get: operations["listBreaks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/breaks/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resolve a break without a match */
        post: operations["resolveBreak"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/days": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The days of a range, both ends included */
        get: operations["listDays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/days/{date}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One day */
        get: operations["getDay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/days/{date}/accept-rejects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accept rejects */
        post: operations["acceptRejects"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/days/{date}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The changes since the sign-off, or those of the newest pull */
        get: operations["listChangesOfDay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/days/{date}/pull": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pull a day again */
        post: operations["pullDay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/days/{date}/reopen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reopen a day */
        post: operations["reopenDay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/days/{date}/sign-off": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign a day off */
        post: operations["signOffDay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/days/{date}/titles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Titles of a day, page by page */
        get: operations["listTitlesOfDay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/drift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Fields and values outside the documented interface that wait for a person */
        get: operations["listDrift"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/drift/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Acknowledge fields and values outside the documented interface */
        post: operations["acknowledgeDrift"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/erp-payables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The open payables, and the age of the last snapshot */
        get: operations["getErpPayables"];
        put?: never;
        /** Write payables that changed; no other is touched */
        post: operations["putErpPayables"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/erp-payables/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin an import of several requests */
        post: operations["beginErpPayableImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/erp-payables/imports/{id}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End an import; a complete snapshot closes the payables that it lacks */
        post: operations["endErpPayableImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/erp-payables/imports/{id}/payables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Write payables of an import; the same request again changes nothing */
        post: operations["addErpPayables"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Titles of a range as a file */
        get: operations["exportTitles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/findings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Findings of the checks */
        get: operations["listFindings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/findings/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resolve findings of one check on one date */
        post: operations["resolveFindings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/match-runs/{id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undo the matches of a run */
        post: operations["undoMatchRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/matches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Match a title with a payable */
        post: operations["matchTitle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/matches/{id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undo a match */
        post: operations["undoMatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/months": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The months of the ledger with their seals, the newest first */
        get: operations["listMonths"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/months/{month}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One month with its days and all its seals */
        get: operations["getMonth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/months/{month}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The evidence of a sealed month as a ZIP file */
        get: operations["downloadMonthEvidence"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/payables-to-block": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Open payables whose titles are matched and not posted, to block from the payment run */
        get: operations["listPayablesToBlock"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/payment-schedule": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who is to be paid on the due dates of a range, and on which account, over all accepted dates */
        get: operations["getPaymentSchedule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/payment-schedule/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The payment schedule of a range as a file */
        get: operations["exportPaymentSchedule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/provider": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One supplier with its titles and bank accounts */
        get: operations["getProvider"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Suppliers with their states and newest requests */
        get: operations["listProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pulls/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Merge the changes of a held pull */
        post: operations["releasePull"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/restated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What changed since the sign-offs, over all days */
        get: operations["listRestatedDays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sign-offs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign many days off, each for itself */
        post: operations["signOffDays"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The progress of the ledger, and the decisions that are open */
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sweeps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The newest sweeps */
        get: operations["listSweeps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/titles/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One title with its whole history */
        get: operations["getTitle"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/waiting-titles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Titles of a date that wait for their release */
        get: operations["listWaitingTitles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: never;
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAccountChanges: {
        parameters: {
            query?: {
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                state?: "open" | "refused" | "decided" | "all";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The oldest first where all are open, otherwise the newest first. */
                        changes: {
                            /**
                             * Format: date
                             * @example 2026-03-02
                             */
                            acceptedDate: string;
                            after: {
                                /** @description Masked. */
                                account: string | null;
                                accountDigit: string | null;
                                /** @description Masked. */
                                agency: string | null;
                                agencyDigit: string | null;
                                bank: string | null;
                                /** @description Undocumented fields that name a destination, such as a Pix key. Masked. Null: none. */
                                destination: {
                                    [key: string]: string;
                                } | null;
                            };
                            before: {
                                /** @description Masked. */
                                account: string | null;
                                accountDigit: string | null;
                                /** @description Masked. */
                                agency: string | null;
                                agencyDigit: string | null;
                                bank: string | null;
                                /** @description Undocumented fields that name a destination, such as a Pix key. Masked. Null: none. */
                                destination: {
                                    [key: string]: string;
                                } | null;
                            };
                            /** Format: date-time */
                            decidedAt: string | null;
                            decidedBy: string | null;
                            /** Format: date-time */
                            detectedAt: string;
                            heldTitles: number;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            heldValue: string;
                            id: number;
                            /** @enum {string} */
                            kind: "provider" | "financial_agent";
                            orderUid: string | null;
                            /** @description Masked where the key is a tax identifier. */
                            partyKey: string;
                            partyName: string | null;
                            pullId: number;
                            reason: string | null;
                            /** @enum {string} */
                            state: "open" | "refused" | "confirmed" | "parallel" | "returned";
                            titleId: number;
                        }[];
                        total: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    decideAccountChanges: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    decision: "confirmed" | "parallel" | "refused";
                    /** @description All of them are decided, or none. */
                    ids: number[];
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        ids: number[];
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listAlerts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date */
                        date: string | null;
                        /** Format: date-time */
                        deliveredAt: string | null;
                        id: number;
                        /** @description Such as pull_failed, pull_overdue, sweep_failed, sweep_stale, sweep_differs, sweep_unplaced, filters_disagree, day_held, day_attention, findings_open, checkpoint_stale, restated_after_sign_off, booking_difference, booking_failed, booking_overdue, booking_receipts, booking_waiting, consumer_behind, month_seal_broken, titles_altered, verification_overdue, provider_rejected, push_failing, account_changed, payables_stale, paid_to_supplier, contract_drift, platform_auth, clock_skew, planning_failed. */
                        kind: string;
                        message: string;
                        /** @description The message in Portuguese. */
                        messagePt: string;
                        pullId: number | null;
                        /** Format: date-time */
                        raisedAt: string;
                        /** Format: date-time */
                        resolvedAt: string | null;
                    }[];
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listAuditEntries: {
        parameters: {
            query?: {
                /** @description Only entries with a smaller id. */
                before?: number;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        action: string;
                        actor: string;
                        /** Format: date-time */
                        at: string;
                        /** Format: date */
                        date: string | null;
                        details: unknown;
                        id: number;
                        pullId: number | null;
                        reason: string | null;
                    }[];
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listBackfills: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        concurrency: number;
                        /** Format: date-time */
                        createdAt: string;
                        done: number;
                        failed: number;
                        /** Format: date-time */
                        finishedAt: string | null;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        from: string;
                        held: number;
                        id: number;
                        open: number;
                        requestedBy: string;
                        /** @enum {string} */
                        state: "running" | "done" | "cancelled";
                        titles: number;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        to: string;
                        total: number;
                    }[];
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    startBackfill: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default 2 */
                    concurrency?: number;
                    /**
                     * Format: date
                     * @example 2026-03-02
                     */
                    from: string;
                    /**
                     * Format: date
                     * @example 2026-03-02
                     */
                    to: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        concurrency: number;
                        /** Format: date-time */
                        createdAt: string;
                        done: number;
                        failed: number;
                        /** Format: date-time */
                        finishedAt: string | null;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        from: string;
                        held: number;
                        id: number;
                        open: number;
                        requestedBy: string;
                        /** @enum {string} */
                        state: "running" | "done" | "cancelled";
                        titles: number;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        to: string;
                        total: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    getBackfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        concurrency: number;
                        /** Format: date-time */
                        createdAt: string;
                        done: number;
                        failed: number;
                        /** Format: date-time */
                        finishedAt: string | null;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        from: string;
                        held: number;
                        id: number;
                        open: number;
                        requestedBy: string;
                        /** @enum {string} */
                        state: "running" | "done" | "cancelled";
                        titles: number;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        to: string;
                        total: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    cancelBackfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        concurrency: number;
                        /** Format: date-time */
                        createdAt: string;
                        done: number;
                        failed: number;
                        /** Format: date-time */
                        finishedAt: string | null;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        from: string;
                        held: number;
                        id: number;
                        open: number;
                        requestedBy: string;
                        /** @enum {string} */
                        state: "running" | "done" | "cancelled";
                        titles: number;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        to: string;
                        total: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listBookingLines: {
        parameters: {
            query?: {
                /** @description Overdue after days. */
                days?: number;
                from?: string;
                limit?: number;
                offset?: number;
                state?: "all" | "released" | "posted" | "failed" | "refused" | "overdue" | "superseded";
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        lines: {
                            consumer: string;
                            /** Format: date */
                            date: string;
                            document: string | null;
                            failure: string | null;
                            id: number;
                            isOverdue: boolean;
                            key: string;
                            /** @enum {string} */
                            kind: "book" | "adjust" | "reverse";
                            orderUid: string | null;
                            originalValue: string | null;
                            /** Format: date-time */
                            releasedAt: string;
                            /** @enum {string} */
                            state: "released" | "posted" | "failed" | "refused" | "superseded";
                            /** Format: date-time */
                            stateAt: string;
                        }[];
                        totals: {
                            kinds: {
                                /** @enum {string} */
                                kind: "book" | "adjust" | "reverse";
                                lines: number;
                                originalValue: string;
                            }[];
                            lines: number;
                            states: {
                                all: number;
                                failed: number;
                                overdue: number;
                                posted: number;
                                refused: number;
                                released: number;
                                superseded: number;
                            };
                        };
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    getBookingStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        consumers: {
                            /** Format: date-time */
                            acknowledgedAt: string | null;
                            behind: number;
                            /** Format: date-time */
                            behindSince: string | null;
                            lastSeq: string;
                            name: string;
                        }[];
                        kept: {
                            count: number;
                            receipts: {
                                consumer: string;
                                /** Format: date */
                                date: string;
                                document: string | null;
                                id: number;
                                isFinal: boolean;
                                key: string;
                                /** @enum {string} */
                                outcome: "unknown_key" | "other_content";
                                reason: string | null;
                                /** Format: date-time */
                                receivedAt: string;
                                /** @enum {string} */
                                status: "posted" | "failed";
                            }[];
                        };
                        /** @description Signed-off days that are not released completely. */
                        waiting: {
                            /** @description The first of them. */
                            dates: string[];
                            days: number;
                            /**
                             * @description titles: only single titles of the days wait. Null: released within a minute.
                             * @enum {string|null}
                             */
                            fault: "receipts" | "altered" | "not_reconciled" | "not_matched" | "titles" | null;
                            titles: number;
                        }[];
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listBookings: {
        parameters: {
            query?: {
                /** @example 0 */
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        lines: {
                            batchId: string;
                            contentHash: string;
                            /** Format: date */
                            date: string;
                            /** @enum {string} */
                            effect: "early_payment" | "payee_change" | "not_stated";
                            erpKey: string | null;
                            key: string;
                            /** @enum {string} */
                            kind: "book" | "adjust" | "reverse";
                            /** Format: date-time */
                            offeredAt: string;
                            payeeAfter: string | null;
                            payeeBefore: string | null;
                            /** @example 0 */
                            seq: string;
                            /** @enum {string} */
                            state: "released" | "posted" | "failed" | "refused" | "superseded";
                            succeedsKey: string | null;
                            /** @description As in the database; amounts are exact decimals. */
                            title: {
                                anticipated_due_date: string | null;
                                billing_fee: string | null;
                                buyer_discounted_value: string | null;
                                buyer_identification: string | null;
                                buyer_is_financial: boolean | null;
                                financial_agent_identification: string | null;
                                financial_agent_name: string | null;
                                financial_agent_type: string | null;
                                financial_discounted_value: string | null;
                                money_transfer_fee: string | null;
                                order_uid: string | null;
                                original_value: string | null;
                                payment_account: string | null;
                                payment_account_digit: string | null;
                                payment_agency: string | null;
                                payment_agency_digit: string | null;
                                payment_bank: string | null;
                                payment_destination: {
                                    [key: string]: string;
                                } | null;
                                payment_type: string | null;
                                platform_commission: string | null;
                                platform_discounted_value: string | null;
                                provider_account: string | null;
                                provider_account_digit: string | null;
                                provider_agency: string | null;
                                provider_agency_digit: string | null;
                                provider_bank: string | null;
                                provider_destination: {
                                    [key: string]: string;
                                } | null;
                                provider_external_id: string | null;
                                provider_identification: string | null;
                            };
                        }[];
                        /** @example 0 */
                        next: string;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    sendReceipts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    receipts: {
                        contentHash: string;
                        document?: string | null;
                        /** @description With failed: the ERP will never post the line, which is not offered again. */
                        final?: boolean;
                        idempotencyKey: string;
                        key: string;
                        reason?: string | null;
                        /** @enum {string} */
                        status: "posted" | "failed";
                    }[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        stored: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listBreaks: {
        parameters: {
            query?: {
                /** @example 2026-03-02 */
                date?: string;
                kind?: "paid_to_supplier" | "anticipated_twice" | "posted_twice" | "reversal_refused" | "paid_in_part" | "gone_from_erp" | "payee_changed" | "still_open" | "due_before_release" | "already_assigned" | "offset_in_erp" | "cancelled_in_erp" | "withdrawn_open" | "match_lost" | "duplicated_in_erp" | "in_doubt" | "value_differs" | "due_date_differs" | "missing_in_erp" | "missing_on_platform";
                limit?: number;
                /** @description To skip. */
                offset?: number;
                /** @description The supplier's code. */
                supplier?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        breaks: {
                            /** @description Names both sides as they are; to be given back. */
                            ground: string;
                            /** @description Money may be paid twice, or to the wrong party. */
                            isUrgent: boolean;
                            /** @enum {string} */
                            kind: "paid_to_supplier" | "anticipated_twice" | "posted_twice" | "reversal_refused" | "paid_in_part" | "gone_from_erp" | "payee_changed" | "still_open" | "due_before_release" | "already_assigned" | "offset_in_erp" | "cancelled_in_erp" | "withdrawn_open" | "match_lost" | "duplicated_in_erp" | "in_doubt" | "value_differs" | "due_date_differs" | "missing_in_erp" | "missing_on_platform";
                            payable: {
                                company: string | null;
                                document: string | null;
                                /** Format: date */
                                dueDate: string | null;
                                erpKey: string;
                                instalment: string | null;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                openValue: string;
                                orderUid: string | null;
                                /** @description Whom the ERP is going to pay. other: neither the supplier nor the financial agent. Null: not stated, which means the supplier. */
                                payee: ("supplier" | "agent" | "other") | null;
                                /** @enum {string} */
                                status: "open" | "paid" | "cancelled";
                                supplier: string | null;
                            } | null;
                            title: {
                                /**
                                 * Format: date
                                 * @example 2026-03-02
                                 */
                                acceptedDate: string;
                                /** Format: date */
                                dueDate: string | null;
                                id: number;
                                isWithdrawn: boolean;
                                orderUid: string;
                                supplier: string | null;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                value: string;
                            } | null;
                        }[];
                        /** @description Over the whole filter, without its kind. */
                        counts: {
                            breaks: number;
                            /** @enum {string} */
                            kind: "paid_to_supplier" | "anticipated_twice" | "posted_twice" | "reversal_refused" | "paid_in_part" | "gone_from_erp" | "payee_changed" | "still_open" | "due_before_release" | "already_assigned" | "offset_in_erp" | "cancelled_in_erp" | "withdrawn_open" | "match_lost" | "duplicated_in_erp" | "in_doubt" | "value_differs" | "due_date_differs" | "missing_in_erp" | "missing_on_platform";
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            value: string;
                        }[];
                        total: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    resolveBreak: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    erpKey?: string;
                    /**
                     * Format: uuid
                     * @description `ground` of the break as it was looked at.
                     */
                    ground: string;
                    /** @enum {string} */
                    kind: "paid_to_supplier" | "anticipated_twice" | "posted_twice" | "reversal_refused" | "paid_in_part" | "gone_from_erp" | "payee_changed" | "still_open" | "due_before_release" | "already_assigned" | "offset_in_erp" | "cancelled_in_erp" | "withdrawn_open" | "match_lost" | "duplicated_in_erp" | "in_doubt" | "value_differs" | "due_date_differs" | "missing_in_erp" | "missing_on_platform";
                    reason: string;
                    titleId?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        done: boolean;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listDays: {
        parameters: {
            query: {
                /** @example 2026-03-02 */
                from: string;
                /** @example 2026-03-02 */
                to: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Changes to the titles or totals of the day that no merge made and no person has acknowledged. */
                        alterations: number;
                        /** Format: date-time */
                        changedAt: string | null;
                        contentDigest: string | null;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        date: string;
                        /** @description Titles that name a changed bank account that no person has confirmed. */
                        heldPayments: number;
                        heldPullId: number | null;
                        /** @description The response that waits for a person, and the withdrawals of a release. */
                        hold: {
                            /** @description What the limit was compared with, for a hold for plausibility. */
                            detail: {
                                found: number;
                                limit: number;
                                of: number | null;
                            } | null;
                            faults: string[];
                            /** @enum {string|null} */
                            reason: "emptied" | "unreadable" | "withdrawal_limit" | "run_withdrawals" | "buyer_withdrawals" | "buyer_missing" | "duplicates" | "growth" | "changed_share" | "value_jump" | null;
                            titles: number;
                            withdrawals: number;
                        } | null;
                        /** @description Whether the checks ran on the present content. */
                        isChecked: boolean;
                        /** @description Restated after it was signed off. */
                        isRestated: boolean;
                        /** @description Findings of the checks that a person has to resolve. */
                        openFindings: number;
                        rejected: number;
                        /** Format: date-time */
                        signedOffAt: string | null;
                        signedOffBy: string | null;
                        signedOffDigest: string | null;
                        /** @enum {string} */
                        state: "pending" | "reconciled" | "attention" | "held" | "failed";
                        sums: {
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            billing_fee: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            buyer_discounted_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            financial_discounted_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            money_transfer_fee: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            original_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            platform_discounted_value: string;
                        };
                        titles: number;
                        /** Format: date-time */
                        verifiedAt: string | null;
                        withdrawn: number;
                        /** @description Titles that the newest response lacks and that stay current, because a rejected title may be one of them. */
                        withheld: number;
                    }[];
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    getDay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 2026-03-02 */
                date: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Changes to the titles or totals of the day that no merge made and no person has acknowledged. */
                        alterations: number;
                        /** Format: date-time */
                        changedAt: string | null;
                        contentDigest: string | null;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        date: string;
                        /** @description Titles that name a changed bank account that no person has confirmed. */
                        heldPayments: number;
                        heldPullId: number | null;
                        /** @description The response that waits for a person, and the withdrawals of a release. */
                        hold: {
                            /** @description What the limit was compared with, for a hold for plausibility. */
                            detail: {
                                found: number;
                                limit: number;
                                of: number | null;
                            } | null;
                            faults: string[];
                            /** @enum {string|null} */
                            reason: "emptied" | "unreadable" | "withdrawal_limit" | "run_withdrawals" | "buyer_withdrawals" | "buyer_missing" | "duplicates" | "growth" | "changed_share" | "value_jump" | null;
                            titles: number;
                            withdrawals: number;
                        } | null;
                        /** @description Whether the checks ran on the present content. */
                        isChecked: boolean;
                        /** @description Restated after it was signed off. */
                        isRestated: boolean;
                        /** @description Findings of the checks that a person has to resolve. */
                        openFindings: number;
                        rejected: number;
                        /** Format: date-time */
                        signedOffAt: string | null;
                        signedOffBy: string | null;
                        signedOffDigest: string | null;
                        /** @enum {string} */
                        state: "pending" | "reconciled" | "attention" | "held" | "failed";
                        sums: {
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            billing_fee: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            buyer_discounted_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            financial_discounted_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            money_transfer_fee: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            original_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            platform_discounted_value: string;
                        };
                        titles: number;
                        /** Format: date-time */
                        verifiedAt: string | null;
                        withdrawn: number;
                        /** @description Titles that the newest response lacks and that stay current, because a rejected title may be one of them. */
                        withheld: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    acceptRejects: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 2026-03-02 */
                date: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Changes to the titles or totals of the day that no merge made and no person has acknowledged. */
                        alterations: number;
                        /** Format: date-time */
                        changedAt: string | null;
                        contentDigest: string | null;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        date: string;
                        /** @description Titles that name a changed bank account that no person has confirmed. */
                        heldPayments: number;
                        heldPullId: number | null;
                        /** @description The response that waits for a person, and the withdrawals of a release. */
                        hold: {
                            /** @description What the limit was compared with, for a hold for plausibility. */
                            detail: {
                                found: number;
                                limit: number;
                                of: number | null;
                            } | null;
                            faults: string[];
                            /** @enum {string|null} */
                            reason: "emptied" | "unreadable" | "withdrawal_limit" | "run_withdrawals" | "buyer_withdrawals" | "buyer_missing" | "duplicates" | "growth" | "changed_share" | "value_jump" | null;
                            titles: number;
                            withdrawals: number;
                        } | null;
                        /** @description Whether the checks ran on the present content. */
                        isChecked: boolean;
                        /** @description Restated after it was signed off. */
                        isRestated: boolean;
                        /** @description Findings of the checks that a person has to resolve. */
                        openFindings: number;
                        rejected: number;
                        /** Format: date-time */
                        signedOffAt: string | null;
                        signedOffBy: string | null;
                        signedOffDigest: string | null;
                        /** @enum {string} */
                        state: "pending" | "reconciled" | "attention" | "held" | "failed";
                        sums: {
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            billing_fee: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            buyer_discounted_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            financial_discounted_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            money_transfer_fee: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            original_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            platform_discounted_value: string;
                        };
                        titles: number;
                        /** Format: date-time */
                        verifiedAt: string | null;
                        withdrawn: number;
                        /** @description Titles that the newest response lacks and that stay current, because a rejected title may be one of them. */
                        withheld: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listChangesOfDay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 2026-03-02 */
                date: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        counts: {
                            changed: number;
                            inserted: number;
                            restored: number;
                            withdrawn: number;
                        };
                        pullId: number | null;
                        /** @enum {string} */
                        since: "sign_off" | "last_change";
                        titles: {
                            /** Format: date-time */
                            changedAt: string;
                            fields: {
                                after: string | null;
                                before: string | null;
                                /** @description A column of conciliation.title. */
                                column: string;
                            }[];
                            /** @enum {string} */
                            kind: "inserted" | "changed" | "withdrawn" | "restored";
                            occurrence: number;
                            orderUid: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            originalValue: string;
                            pullId: number;
                            titleId: number;
                        }[];
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    pullDay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 2026-03-02 */
                date: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pullId: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    reopenDay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 2026-03-02 */
                date: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Changes to the titles or totals of the day that no merge made and no person has acknowledged. */
                        alterations: number;
                        /** Format: date-time */
                        changedAt: string | null;
                        contentDigest: string | null;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        date: string;
                        /** @description Titles that name a changed bank account that no person has confirmed. */
                        heldPayments: number;
                        heldPullId: number | null;
                        /** @description The response that waits for a person, and the withdrawals of a release. */
                        hold: {
                            /** @description What the limit was compared with, for a hold for plausibility. */
                            detail: {
                                found: number;
                                limit: number;
                                of: number | null;
                            } | null;
                            faults: string[];
                            /** @enum {string|null} */
                            reason: "emptied" | "unreadable" | "withdrawal_limit" | "run_withdrawals" | "buyer_withdrawals" | "buyer_missing" | "duplicates" | "growth" | "changed_share" | "value_jump" | null;
                            titles: number;
                            withdrawals: number;
                        } | null;
                        /** @description Whether the checks ran on the present content. */
                        isChecked: boolean;
                        /** @description Restated after it was signed off. */
                        isRestated: boolean;
                        /** @description Findings of the checks that a person has to resolve. */
                        openFindings: number;
                        rejected: number;
                        /** Format: date-time */
                        signedOffAt: string | null;
                        signedOffBy: string | null;
                        signedOffDigest: string | null;
                        /** @enum {string} */
                        state: "pending" | "reconciled" | "attention" | "held" | "failed";
                        sums: {
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            billing_fee: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            buyer_discounted_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            financial_discounted_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            money_transfer_fee: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            original_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            platform_discounted_value: string;
                        };
                        titles: number;
                        /** Format: date-time */
                        verifiedAt: string | null;
                        withdrawn: number;
                        /** @description Titles that the newest response lacks and that stay current, because a rejected title may be one of them. */
                        withheld: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    signOffDay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 2026-03-02 */
                date: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description contentDigest of the day as it was looked at; refused where it has changed since. */
                    digest: string;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Changes to the titles or totals of the day that no merge made and no person has acknowledged. */
                        alterations: number;
                        /** Format: date-time */
                        changedAt: string | null;
                        contentDigest: string | null;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        date: string;
                        /** @description Titles that name a changed bank account that no person has confirmed. */
                        heldPayments: number;
                        heldPullId: number | null;
                        /** @description The response that waits for a person, and the withdrawals of a release. */
                        hold: {
                            /** @description What the limit was compared with, for a hold for plausibility. */
                            detail: {
                                found: number;
                                limit: number;
                                of: number | null;
                            } | null;
                            faults: string[];
                            /** @enum {string|null} */
                            reason: "emptied" | "unreadable" | "withdrawal_limit" | "run_withdrawals" | "buyer_withdrawals" | "buyer_missing" | "duplicates" | "growth" | "changed_share" | "value_jump" | null;
                            titles: number;
                            withdrawals: number;
                        } | null;
                        /** @description Whether the checks ran on the present content. */
                        isChecked: boolean;
                        /** @description Restated after it was signed off. */
                        isRestated: boolean;
                        /** @description Findings of the checks that a person has to resolve. */
                        openFindings: number;
                        rejected: number;
                        /** Format: date-time */
                        signedOffAt: string | null;
                        signedOffBy: string | null;
                        signedOffDigest: string | null;
                        /** @enum {string} */
                        state: "pending" | "reconciled" | "attention" | "held" | "failed";
                        sums: {
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            billing_fee: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            buyer_discounted_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            financial_discounted_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            money_transfer_fee: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            original_value: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            platform_discounted_value: string;
                        };
                        titles: number;
                        /** Format: date-time */
                        verifiedAt: string | null;
                        withdrawn: number;
                        /** @description Titles that the newest response lacks and that stay current, because a rejected title may be one of them. */
                        withheld: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listTitlesOfDay: {
        parameters: {
            query?: {
                /** @description A part of the name, in any case. */
                agent?: string;
                /** @description A place that an earlier answer named. */
                at?: string;
                direction?: "ascending" | "descending";
                /** @example 2026-03-02 */
                dueFrom?: string;
                /** @example 2026-03-02 */
                dueTo?: string;
                limit?: number;
                maxValue?: string;
                minValue?: string;
                order?: string;
                provider?: string;
                sort?: "accepted" | "order" | "value" | "due" | "provider" | "agent";
                status?: "current" | "withdrawn";
            };
            header?: never;
            path: {
                /** @example 2026-03-02 */
                date: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description For `at`: the page after. Null: this is the last. */
                        next: string | null;
                        /** @description For `at`: the page before. Null: this is the first. */
                        previous: string | null;
                        rows: {
                            /**
                             * Format: date
                             * @example 2026-03-02
                             */
                            acceptedDate: string;
                            agent: string | null;
                            /** Format: date-time */
                            changedAt: string;
                            /** Format: date */
                            dueDate: string | null;
                            id: number;
                            occurrence: number;
                            orderUid: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            originalValue: string;
                            provider: string | null;
                            /** @enum {string} */
                            status: "current" | "withdrawn";
                        }[];
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listDrift: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Names exactly these items; to be given back with them. */
                        digest: string;
                        items: {
                            /** Format: date-time */
                            firstSeenAt: string;
                            /** @enum {string} */
                            kind: "unknown_field" | "unknown_value";
                            /** @example titles[].financialAgent.type */
                            path: string;
                            pullId: number;
                        }[];
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    acknowledgeDrift: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description digest of the list as it was looked at; refused where it has changed since. */
                    digest: string;
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        acknowledged: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    getErpPayables: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The payables of the ERP. Null: the ERP has given none. */
                        payables: {
                            /** Format: date-time */
                            incompleteAt: string | null;
                            open: number;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            openValue: string;
                            /** Format: date-time */
                            snapshotAt: string | null;
                        } | null;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    putErpPayables: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    payables: unknown[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        changed: number;
                        /** @description Payables that a complete snapshot lacks. */
                        closed: number;
                        /** @description Of the changed ones: a snapshot gave them an older version. */
                        downgraded: number;
                        importId: number;
                        /** @description Of the changed ones: their version cannot be compared with the one before. */
                        incomparable: number;
                        inserted: number;
                        /** @description Whether no payable was rejected and as many arrived as were announced. */
                        isComplete: boolean;
                        /** @enum {string} */
                        kind: "snapshot" | "delta";
                        /** @description Payables left as they are: a newer version or a later statement has written them. */
                        outdated: number;
                        rejected: number;
                        rejects: {
                            /** @description The place in `payables`, from 1. */
                            at: number;
                            expected: string;
                            field: string;
                        }[];
                        unchanged: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    beginErpPayableImport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    kind: "snapshot" | "delta";
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        importId: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    endErpPayableImport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The number of payables that were sent. With another number nothing is closed. */
                    count: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        changed: number;
                        /** @description Payables that a complete snapshot lacks. */
                        closed: number;
                        /** @description Of the changed ones: a snapshot gave them an older version. */
                        downgraded: number;
                        importId: number;
                        /** @description Of the changed ones: their version cannot be compared with the one before. */
                        incomparable: number;
                        inserted: number;
                        /** @description Whether no payable was rejected and as many arrived as were announced. */
                        isComplete: boolean;
                        /** @enum {string} */
                        kind: "snapshot" | "delta";
                        /** @description Payables left as they are: a newer version or a later statement has written them. */
                        outdated: number;
                        rejected: number;
                        unchanged: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    addErpPayables: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    payables: unknown[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        changed: number;
                        /** @description Of the changed ones: a snapshot gave them an older version. */
                        downgraded: number;
                        /** @description ERP keys of downgraded payables. */
                        downgradedKeys: string[];
                        /** @description Of the changed ones: their version cannot be compared with the one before. */
                        incomparable: number;
                        inserted: number;
                        /** @description Payables left as they are: a newer version or a later statement has written them. */
                        outdated: number;
                        rejected: number;
                        rejects: {
                            /** @description The place in `payables`, from 1. */
                            at: number;
                            expected: string;
                            field: string;
                        }[];
                        unchanged: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    exportTitles: {
        parameters: {
            query: {
                format: "csv" | "xlsx" | "jsonl";
                /** @example 2026-03-02 */
                from: string;
                includeWithdrawn?: "true" | "false";
                locale?: "en" | "pt-BR";
                /** @example 2026-03-02 */
                to: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl; charset=utf-8": string;
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                    "text/csv; charset=utf-8": string;
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listFindings: {
        parameters: {
            query?: {
                check?: "due_before_acceptance" | "value_not_positive" | "fee_unusual" | "tax_id_invalid" | "agent_is_provider" | "equal_in_day" | "equal_on_two_dates" | "unit_jump";
                /** @example 2026-03-02 */
                date?: string;
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                severity?: "info" | "review";
                state?: "open" | "resolved" | "closed" | "all";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The newest date first. */
                        findings: {
                            /** @enum {string} */
                            code: "due_before_acceptance" | "value_not_positive" | "fee_unusual" | "tax_id_invalid" | "agent_is_provider" | "equal_in_day" | "equal_on_two_dates" | "unit_jump";
                            /**
                             * Format: date
                             * @example 2026-03-02
                             */
                            date: string;
                            /** @description What was compared: field, value, limit and other title, as far as the check has them. */
                            detail: {
                                [key: string]: string;
                            };
                            /** Format: date */
                            dueDate: string | null;
                            /** Format: date-time */
                            foundAt: string;
                            id: number;
                            orderUid: string;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            originalValue: string;
                            providerExternalId: string | null;
                            reason: string | null;
                            /** Format: date-time */
                            resolvedAt: string | null;
                            resolvedBy: string | null;
                            /** @enum {string} */
                            severity: "info" | "review";
                            /** @enum {string} */
                            state: "open" | "resolved" | "closed";
                            titleId: number;
                        }[];
                        total: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    resolveFindings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    check: "due_before_acceptance" | "value_not_positive" | "fee_unusual" | "tax_id_invalid" | "agent_is_provider" | "equal_in_day" | "equal_on_two_dates" | "unit_jump";
                    /**
                     * Format: date
                     * @example 2026-03-02
                     */
                    date: string;
                    /** @description The greatest id that was seen. Later findings are not resolved. */
                    newestId: number;
                    reason: string;
                    titleId?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        resolved: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    undoMatchRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        undone: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    matchTitle: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    erpKey: string;
                    reason: string;
                    titleId: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        matchId: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    undoMatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        done: boolean;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listMonths: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The days that break the newest seal. */
                        broken: {
                            /** @enum {string} */
                            cause: "restated" | "reopened" | "sealed_again" | "added";
                            /**
                             * Format: date
                             * @example 2026-03-02
                             */
                            date: string;
                        }[];
                        days: number;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        from: string;
                        /** @example 2026-03 */
                        month: string;
                        restated: number;
                        /** @description The newest seal. */
                        seal: {
                            days: number;
                            /** @description SHA-256 over the month and the seals of its days. */
                            digest: string;
                            id: number;
                            month: string;
                            reason: string | null;
                            /** Format: date-time */
                            sealedAt: string;
                            sealedBy: string;
                            /** @description Over the seals of the days. */
                            totals: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                billing_fee_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                buyer_discounted_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                financial_discounted_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                money_transfer_fee_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                original_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                platform_discounted_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                rejected_count: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                title_count: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                withdrawn_count: string;
                            };
                        } | null;
                        /** @description Signed off, not restated since, and reconciled. */
                        signed: number;
                        /** @enum {string} */
                        state: "open" | "ready" | "sealed" | "broken";
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        to: string;
                    }[];
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    getMonth: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 2026-03 */
                month: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The days that break the newest seal. */
                        broken: {
                            /** @enum {string} */
                            cause: "restated" | "reopened" | "sealed_again" | "added";
                            /**
                             * Format: date
                             * @example 2026-03-02
                             */
                            date: string;
                        }[];
                        days: number;
                        daySeals: {
                            /**
                             * Format: date
                             * @example 2026-03-02
                             */
                            date: string;
                            isRestated: boolean;
                            seal: {
                                billing_fee_sum: string | null;
                                buyer_discounted_value_sum: string | null;
                                content_digest: string | null;
                                date: string | null;
                                fence: string | null;
                                financial_discounted_value_sum: string | null;
                                id: string | null;
                                money_transfer_fee_sum: string | null;
                                original_value_sum: string | null;
                                platform_discounted_value_sum: string | null;
                                reason: string | null;
                                rejected_count: string | null;
                                signed_off_at: string | null;
                                signed_off_by: string | null;
                                title_count: string | null;
                                withdrawn_count: string | null;
                            } | null;
                            /** @enum {string|null} */
                            state: "pending" | "reconciled" | "attention" | "held" | "failed" | null;
                        }[];
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        from: string;
                        /** @example 2026-03 */
                        month: string;
                        /** @description The digest of a seal over the present seals of the days. */
                        presentDigest: string | null;
                        restated: number;
                        /** @description The newest seal. */
                        seal: {
                            days: number;
                            /** @description SHA-256 over the month and the seals of its days. */
                            digest: string;
                            id: number;
                            month: string;
                            reason: string | null;
                            /** Format: date-time */
                            sealedAt: string;
                            sealedBy: string;
                            /** @description Over the seals of the days. */
                            totals: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                billing_fee_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                buyer_discounted_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                financial_discounted_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                money_transfer_fee_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                original_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                platform_discounted_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                rejected_count: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                title_count: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                withdrawn_count: string;
                            };
                        } | null;
                        seals: {
                            days: number;
                            /** @description SHA-256 over the month and the seals of its days. */
                            digest: string;
                            id: number;
                            month: string;
                            reason: string | null;
                            /** Format: date-time */
                            sealedAt: string;
                            sealedBy: string;
                            /** @description Over the seals of the days. */
                            totals: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                billing_fee_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                buyer_discounted_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                financial_discounted_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                money_transfer_fee_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                original_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                platform_discounted_value_sum: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                rejected_count: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                title_count: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                withdrawn_count: string;
                            };
                        }[];
                        /** @description Signed off, not restated since, and reconciled. */
                        signed: number;
                        /** @enum {string} */
                        state: "open" | "ready" | "sealed" | "broken";
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        to: string;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    downloadMonthEvidence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 2026-03 */
                month: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listPayablesToBlock: {
        parameters: {
            query?: {
                /** @description The last erpKey of the page before. */
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description In the order of erpKey. A payable with several titles has several rows. */
                        payables: {
                            company: string | null;
                            /** Format: date */
                            date: string;
                            /** @enum {string} */
                            effect: "early_payment" | "payee_change" | "not_stated";
                            erpKey: string;
                            /** Format: date-time */
                            matchedAt: string;
                            orderUid: string;
                            originalValue: string;
                            payeeAfter: string | null;
                            /** @enum {string} */
                            state: "not_released" | "released" | "failed" | "refused" | "superseded" | "posted";
                            supplier: string | null;
                            titleId: number;
                        }[];
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    getPaymentSchedule: {
        parameters: {
            query: {
                /** @example 2026-03-02 */
                dueFrom: string;
                /** @example 2026-03-02 */
                dueTo: string;
                limit?: number;
                /** @description Groups to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description On accounts that changed, where no person has confirmed the change. */
                        changed: {
                            groups: number;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            originalValue: string;
                            titles: number;
                        };
                        dates: {
                            /**
                             * Format: date
                             * @example 2026-03-02
                             */
                            date: string;
                            sums: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                billing_fee: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                buyer_discounted_value: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                financial_discounted_value: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                money_transfer_fee: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                original_value: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                platform_discounted_value: string;
                            };
                            titles: number;
                            /** @description Titles of days in the state held or attention, whose newest response waits for a person. */
                            waitingTitles: number;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            waitingValue: string;
                        }[];
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        dueFrom: string;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        dueTo: string;
                        groupCount: number;
                        /** @description By party to be paid and account, the largest original value first. */
                        groups: {
                            payee: {
                                account: {
                                    account: string | null;
                                    accountDigit: string | null;
                                    agency: string | null;
                                    agencyDigit: string | null;
                                    bank: string | null;
                                };
                                externalId: string | null;
                                /** @description Masked, as the account is. */
                                identification: string | null;
                                isChanged: boolean;
                                /** @enum {string|null} */
                                kind: "financial_agent" | "provider" | null;
                                name: string | null;
                            };
                            sums: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                billing_fee: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                buyer_discounted_value: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                financial_discounted_value: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                money_transfer_fee: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                original_value: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                platform_discounted_value: string;
                            };
                            /** @description One of the titles of the group. */
                            titleId: number;
                            titles: number;
                            /** @description Titles of days in the state held or attention, whose newest response waits for a person. */
                            waitingTitles: number;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            waitingValue: string;
                        }[];
                        overall: {
                            sums: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                billing_fee: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                buyer_discounted_value: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                financial_discounted_value: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                money_transfer_fee: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                original_value: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                platform_discounted_value: string;
                            };
                            titles: number;
                            /** @description Titles of days in the state held or attention, whose newest response waits for a person. */
                            waitingTitles: number;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            waitingValue: string;
                        };
                        /** @description Current titles without a due date. They are in no other figure. */
                        undated: {
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            originalValue: string;
                            titles: number;
                        };
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    exportPaymentSchedule: {
        parameters: {
            query: {
                /** @example 2026-03-02 */
                dueFrom: string;
                /** @example 2026-03-02 */
                dueTo: string;
                format: "csv" | "xlsx";
                locale?: "pt-BR" | "en";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    getProvider: {
        parameters: {
            query: {
                /** @description The external id. */
                id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        accountChanges: number;
                        accountCount: number;
                        /** @description Accounts that titles name, at most 500, the last seen first. */
                        accounts: {
                            /** @description Masked. */
                            account: string | null;
                            accountDigit: string | null;
                            /** @description Masked. */
                            agency: string | null;
                            agencyDigit: string | null;
                            bank: string | null;
                            /** @description Undocumented fields that name a destination, such as a Pix key. Masked. Null: none. */
                            destination: {
                                [key: string]: string;
                            } | null;
                            /** Format: date-time */
                            firstSeenAt: string;
                            /**
                             * Format: date
                             * @example 2026-03-02
                             */
                            lastAcceptedDate: string;
                        }[];
                        externalId: string;
                        /**
                         * @description An exact decimal.
                         * @example 1234.50
                         */
                        originalValue: string;
                        /** @description Null: titles name the provider, and the ERP has not written it. */
                        provider: {
                            /** @description The newest request that had the provider. */
                            batchId: number | null;
                            canAnticipate: boolean | null;
                            /** Format: date-time */
                            changedAt: string;
                            errorCode: string | null;
                            externalId: string;
                            /** @description The violated rules of an invalid provider. */
                            faults: string | null;
                            httpStatus: number | null;
                            /** @description Masked. */
                            identification: string | null;
                            /** @description The newest request has no answer yet. */
                            isUnderWay: boolean;
                            name: string | null;
                            /** @description Requests that had the provider. */
                            requests: number;
                            /** Format: date-time */
                            sentAt: string | null;
                            /** @enum {string} */
                            state: "pending" | "synced" | "rejected" | "invalid";
                            /** Format: date-time */
                            syncedAt: string | null;
                            type: string | null;
                        } | null;
                        titles: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listProviders: {
        parameters: {
            query?: {
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
                /** @description An external id, or a part of one where no provider has it; or a part of the name. Tax identifiers are not searched, because the address of a request may be logged. */
                q?: string;
                state?: "pending" | "synced" | "rejected" | "invalid";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description By external id. */
                        providers: {
                            /** @description The newest request that had the provider. */
                            batchId: number | null;
                            errorCode: string | null;
                            externalId: string;
                            /** @description The violated rules of an invalid provider. */
                            faults: string | null;
                            httpStatus: number | null;
                            /** @description Masked. */
                            identification: string | null;
                            /** @description The newest request has no answer yet. */
                            isUnderWay: boolean;
                            name: string | null;
                            /** Format: date-time */
                            sentAt: string | null;
                            /** @enum {string} */
                            state: "pending" | "synced" | "rejected" | "invalid";
                            /** Format: date-time */
                            syncedAt: string | null;
                        }[];
                        total: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    releasePull: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                    /** @description Also release the other held pulls of the same run (schedule, sweep or backfill) that withdraw titles. */
                    run?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        dates: string[];
                        pullId: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listRestatedDays: {
        parameters: {
            query?: {
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description In date order. */
                        days: {
                            /**
                             * Format: date
                             * @example 2026-03-02
                             */
                            date: string;
                            /** @description Counts and sums of the seal, of the present titles, and present minus sealed. */
                            differences: {
                                billing_fee_sum: {
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    difference: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    present: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    sealed: string;
                                };
                                buyer_discounted_value_sum: {
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    difference: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    present: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    sealed: string;
                                };
                                financial_discounted_value_sum: {
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    difference: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    present: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    sealed: string;
                                };
                                money_transfer_fee_sum: {
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    difference: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    present: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    sealed: string;
                                };
                                original_value_sum: {
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    difference: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    present: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    sealed: string;
                                };
                                platform_discounted_value_sum: {
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    difference: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    present: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    sealed: string;
                                };
                                rejected_count: {
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    difference: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    present: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    sealed: string;
                                };
                                title_count: {
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    difference: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    present: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    sealed: string;
                                };
                                withdrawn_count: {
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    difference: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    present: string;
                                    /**
                                     * @description An exact decimal.
                                     * @example 1234.50
                                     */
                                    sealed: string;
                                };
                            };
                            presentDigest: string | null;
                            sealedDigest: string;
                            /** Format: date-time */
                            signedOffAt: string;
                            signedOffBy: string;
                        }[];
                        /** @description Counts and sums of the seal, of the present titles, and present minus sealed. */
                        differences: {
                            billing_fee_sum: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                difference: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                present: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                sealed: string;
                            };
                            buyer_discounted_value_sum: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                difference: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                present: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                sealed: string;
                            };
                            financial_discounted_value_sum: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                difference: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                present: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                sealed: string;
                            };
                            money_transfer_fee_sum: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                difference: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                present: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                sealed: string;
                            };
                            original_value_sum: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                difference: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                present: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                sealed: string;
                            };
                            platform_discounted_value_sum: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                difference: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                present: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                sealed: string;
                            };
                            rejected_count: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                difference: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                present: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                sealed: string;
                            };
                            title_count: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                difference: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                present: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                sealed: string;
                            };
                            withdrawn_count: {
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                difference: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                present: string;
                                /**
                                 * @description An exact decimal.
                                 * @example 1234.50
                                 */
                                sealed: string;
                            };
                        };
                        /** @description Days that changed after their sign-off. */
                        total: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    signOffDays: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    days: {
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        date: string;
                        /** @description contentDigest of the day as it was looked at; refused where it has changed since. */
                        digest: string;
                    }[];
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description In the order of the request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        date: string;
                        isSignedOff: boolean;
                        message: string | null;
                        /**
                         * @description Why the day was not signed off. The other days do not depend on it.
                         * @enum {string|null}
                         */
                        refusal: "not_reconciled" | "already_signed_off" | "changed_meanwhile" | "not_checked" | "payment_held" | "altered" | "own_decision" | "linked_decision" | "not_in_ledger" | "unavailable" | null;
                    }[];
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The body has more bytes than the limit, which the message names. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    getStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Changed bank accounts without a decision. */
                        accountChanges: number;
                        /** @description The state of the ledger in the words of the start page. */
                        headline: {
                            en: {
                                /** @description Whether nothing waits for a person. */
                                inOrder: boolean;
                                lines: string[];
                                title: string;
                            };
                            "pt-BR": {
                                /** @description Whether nothing waits for a person. */
                                inOrder: boolean;
                                lines: string[];
                                title: string;
                            };
                        };
                        lagDays: number | null;
                        /** Format: date */
                        lastReconciledDate: string | null;
                        /** @description Days that wait for a person, by the next decision. */
                        needs: {
                            attention: number;
                            failed: number;
                            held: number;
                            restated: number;
                            sign_off: number;
                        };
                        openAlerts: number;
                        /** Format: date */
                        startDate: string | null;
                        /** @description Companies of the ERP whose buyers a person has to confirm. */
                        unmappedCompanies: number;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listSweeps: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attempts: number;
                        /** Format: date-time */
                        createdAt: string;
                        datesCompared: number | null;
                        datesDiffering: number | null;
                        /** @description Titles of a date before `from`. They belong to no date. */
                        earlyTitles: number | null;
                        errorCode: string | null;
                        errorMessage: string | null;
                        /** Format: date-time */
                        finishedAt: string | null;
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        from: string;
                        /** @description Titles of a date that had not begun. They belong to no date. */
                        futureTitles: number | null;
                        id: number;
                        /** @description The answer exceeded a limit: PLATFORM_MAX_MINUTES, PLATFORM_MAX_BYTES, PLATFORM_MAX_TITLES or PLATFORM_MIN_BYTES_PER_SECOND. */
                        overLimit: boolean;
                        /** Format: date-time */
                        startedAt: string | null;
                        /** @enum {string} */
                        state: "queued" | "running" | "complete" | "failed";
                        titles: number | null;
                        /** @description Titles without a readable accepted date. They belong to no date. */
                        undatedTitles: number | null;
                    }[];
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    getTitle: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: date
                         * @example 2026-03-02
                         */
                        acceptedDate: string;
                        /** Format: date-time */
                        changedAt: string;
                        /** Format: date-time */
                        createdAt: string;
                        /** @description Tax identifiers, accounts and undocumented fields are masked. */
                        fields: {
                            accepted_date: string | null;
                            anticipated_due_date: string | null;
                            billing_fee: string | null;
                            buyer_discounted_value: string | null;
                            buyer_identification: string | null;
                            buyer_is_financial: string | null;
                            extra: string | null;
                            financial_agent_identification: string | null;
                            financial_agent_name: string | null;
                            financial_agent_type: string | null;
                            financial_discounted_value: string | null;
                            money_transfer_fee: string | null;
                            order_uid: string | null;
                            original_value: string | null;
                            payment_account: string | null;
                            payment_account_digit: string | null;
                            payment_agency: string | null;
                            payment_agency_digit: string | null;
                            payment_bank: string | null;
                            payment_type: string | null;
                            platform_commission: string | null;
                            platform_discounted_value: string | null;
                            provider_account: string | null;
                            provider_account_digit: string | null;
                            provider_agency: string | null;
                            provider_agency_digit: string | null;
                            provider_bank: string | null;
                            provider_external_id: string | null;
                            provider_identification: string | null;
                        };
                        id: number;
                        /** @description The title names a changed bank account that no person has confirmed. */
                        isPaymentHeld: boolean;
                        occurrence: number;
                        /** @description The withdrawn title of the same order, buyer and provider that this one replaces. */
                        predecessor: {
                            /** Format: date */
                            dueDate: string | null;
                            id: number;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            originalValue: string;
                        } | null;
                        revisions: {
                            /** Format: date-time */
                            changedAt: string;
                            fields: {
                                after: string | null;
                                before: string | null;
                                /** @description A column of conciliation.title. */
                                column: string;
                            }[];
                            /** @enum {string} */
                            kind: "changed" | "withdrawn" | "restored";
                            pullId: number;
                            revision: number;
                        }[];
                        /** @enum {string} */
                        status: "current" | "withdrawn";
                        /** @description The newest title that replaced this one. */
                        successor: {
                            /** Format: date */
                            dueDate: string | null;
                            id: number;
                            /**
                             * @description An exact decimal.
                             * @example 1234.50
                             */
                            originalValue: string;
                        } | null;
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
    listWaitingTitles: {
        parameters: {
            query: {
                date: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description GET /api/breaks with the date has the reasons. */
                        titles: {
                            /** Format: date */
                            date: string;
                            /** Format: date */
                            dueDate: string | null;
                            orderUid: string;
                            originalValue: string;
                            titleId: number;
                        }[];
                    };
                };
            };
            /** @description A parameter is invalid, or the present state does not allow the action. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The key is missing, unknown, revoked or expired. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description The role or the scopes of the key do not allow the request. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
            /** @description Payments of the day are on hold, because a changed bank account is not confirmed, or the checks of the day have not run yet. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Stable; may be matched. */
                        code: string;
                        message: string;
                        /** @description Of a feed that does not have the position asked for: where to read again from. */
                        position?: string;
                    };
                };
            };
        };
    };
}
