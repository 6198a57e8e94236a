/** The user's line, by its file's name; the whole path is in its title. */
export function Origin({ place }: { place: string }) {
  return (
    <code className="muted" title={place} style={{ display: "block" }}>
      {place.split("/").at(-1)}
    </code>
  );
}
