/** Programs that were uploaded before: each can be started once more, or removed. */
import { useState } from "react";
import { request } from "../api/client";
import { refresh, useLive } from "../api/live";
import * as format from "../format";
import { Card, Dialog } from "../ui/parts";
import { Table, type Column } from "../ui/table";

export interface Program {
  id: string;
  name: string;
  uploaded: number;
}

export function UploadedPrograms({ onUse, onRemoved }: { onUse: (program: Program) => void; onRemoved: (program: Program) => void }) {
  const programs = useLive<{ files: Program[] }>("/jars", 5000).data?.files ?? [];
  const [leaving, setLeaving] = useState<Program | null>(null);
  if (programs.length === 0) return null;
  const columns: Column<Program>[] = [
    { title: "Program", wide: true, by: (program) => program.name, show: (program) => <b>{program.name}</b> },
    { title: "Uploaded", number: true, by: (program) => program.uploaded, show: (program) => format.moment(program.uploaded) },
    {
      title: "Actions",
      show: (program) => (
        <div style={{ display: "flex", gap: 8 }}>
          <button onClick={() => onUse(program)} aria-label={`Use ${program.name} of ${format.moment(program.uploaded)}`}>
            Use
          </button>
          <button className="danger" onClick={() => setLeaving(program)} aria-label={`Remove ${program.name} of ${format.moment(program.uploaded)}`}>
            Remove
          </button>
        </div>
      ),
    },
  ];
  return (
    <Card title="Uploaded programs">
      <Table label="Uploaded programs" rows={programs} columns={columns} id={(program) => program.id} most={10} />
      {leaving && <Removal program={leaving} onClose={() => setLeaving(null)} onRemoved={onRemoved} />}
    </Card>
  );
}

function Removal({ program, onClose, onRemoved }: { program: Program; onClose: () => void; onRemoved: (program: Program) => void }) {
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const remove = async () => {
    setBusy(true);
    try {
      await request("DELETE", `/jars/${encodeURIComponent(program.id)}`);
      onRemoved(program);
      refresh();
      onClose();
    } catch (problem) {
      setError((problem as Error).message);
      setBusy(false);
    }
  };
  return (
    <Dialog title="Remove a program" confirm="Remove" danger busy={isBusy} error={error} onConfirm={() => void remove()} onClose={onClose}>
      <p>
        <strong>{program.name}</strong> of {format.moment(program.uploaded)} leaves the manager. A job of it that runs goes on, but cannot be
        started again after its driver has died.
      </p>
    </Dialog>
  );
}
