from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from collocate import mine, omics

pd = pytest.importorskip("pandas")
sparse = pytest.importorskip("scipy.sparse")


@pytest.fixture
def cells():
    """What these functions use of an AnnData: obs, obsm, obsp and uns."""
    draw = np.random.default_rng(3)
    at = draw.uniform(0, 100, (300, 2))
    kinds = pd.Categorical(draw.choice(["b", "Z", "a"], 300), ["b", "Z", "a", "unused"])
    obs = pd.DataFrame({"kind": kinds}, index=[f"cell{i}" for i in range(300)])
    near = (np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1)) < 8) & ~np.eye(300, dtype=bool)
    return SimpleNamespace(
        obs=obs, obsm={"spatial": at}, obsp={"spatial_connectivities": sparse.csr_matrix(near)},
        uns={},
    )  # fmt: skip


def brute(cells, bounds):
    """squidpy's formula, over all pairs."""
    at, codes = cells.obsm["spatial"], cells.obs["kind"].cat.codes.to_numpy()
    d = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    np.fill_diagonal(d, np.inf)
    out = np.zeros((3, 3, len(bounds) - 1))
    for r, most in enumerate(bounds[1:]):
        i, j = np.nonzero(d <= most)
        counts = np.zeros((3, 3))
        np.add.at(counts, (codes[i], codes[j]), 1)
        expected = np.outer(counts.sum(0), counts.sum(1)) / max(counts.sum(), 1)
        out[:, :, r] = np.divide(counts, expected, out=np.zeros((3, 3)), where=expected > 0)
    return out


@pytest.mark.parametrize("interval", [5, [0, 10, 20, 30], [1, 7, 33]])
def test_co_occurrence(cells, interval):
    occ, bounds = omics.co_occurrence(cells, "kind", interval=interval, copy=True)
    assert np.allclose(occ, brute(cells, bounds), rtol=1e-12)
    assert omics.co_occurrence(cells, "kind", interval=interval) is None
    kept = cells.uns["kind_co_occurrence"]
    assert (kept["occ"] == occ).all() and (kept["interval"] == bounds).all()


def test_neighbours_of_a_graph_and_by_distance(cells):
    z, counts = omics.nhood_enrichment(cells, "kind", n_perms=200, copy=True)
    codes = cells.obs["kind"].cat.codes.to_numpy()
    i, j = cells.obsp["spatial_connectivities"].nonzero()
    want = np.zeros((3, 3), dtype=int)
    np.add.at(want, (codes[i], codes[j]), 1)
    assert (counts == want).all() and np.isfinite(z).all() and abs(z).max() < 5
    draw = np.random.default_rng(0)
    rounds = []
    for _ in range(300):
        dealt = draw.permutation(codes)
        n = np.zeros((3, 3))
        np.add.at(n, (dealt[i], dealt[j]), 1)
        rounds.append(n)
    assert np.allclose(z, (want - np.mean(rounds, 0)) / np.std(rounds, 0), atol=0.5)
    by_distance = omics.nhood_enrichment(cells, "kind", n_perms=200, copy=True, radius=8)
    assert (by_distance.counts == counts).all() and (by_distance.zscore == z).all()
    nearest = omics.nhood_enrichment(cells, "kind", n_perms=20, copy=True, n_neighs=6)
    assert nearest.counts.sum() == 6 * 300
    omics.nhood_enrichment(cells, "kind", n_perms=20, seed=3)
    assert set(cells.uns["kind_nhood_enrichment"]) == {"zscore", "count"}


def test_ripley(cells):
    found = omics.ripley(cells, "kind", max_dist=20, n_steps=10, copy=True)
    table = found["L_stat"]
    assert table["kind"].cat.categories.tolist() == ["b", "Z", "a"] and len(table) == 30
    assert (abs(table["stats"] - table["bins"]) < 4).all()  # the points are random
    one = table[table["kind"] == "Z"]["stats"].to_numpy()
    only = SimpleNamespace(
        obs=cells.obs.assign(kind=np.where(cells.obs["kind"] == "Z", "Z", "other")),
        obsm=cells.obsm,
    )
    again = omics.ripley(only, "kind", max_dist=20, n_steps=10, copy=True)["L_stat"]
    assert np.allclose(again[again["kind"] == "Z"]["stats"], one)


def test_mistakes(cells):
    with pytest.raises(KeyError, match="no column 'type'"):
        omics.co_occurrence(cells, "type")
    del cells.obsp["spatial_connectivities"]
    with pytest.raises(KeyError, match="n_neighs=6"):
        omics.nhood_enrichment(cells, "kind")
    with pytest.raises(ValueError, match='only "L"'):
        omics.ripley(cells, "kind", mode="F")


def test_an_anndata_as_points(cells):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(np.zeros((300, 1)), obs=cells.obs, obsm=cells.obsm)
    found = mine(adata, distance=10, min_prevalence=0.5, feature="kind")
    assert [p["features"] for p in found] == [["Z", "a", "b"]]
    occ, bounds = omics.co_occurrence(adata, "kind", interval=4, copy=True)
    assert np.allclose(occ, brute(cells, bounds))


def test_engines_agree(cells):
    ways = [omics.co_occurrence(cells, "kind", interval=9, copy=True, engine=e)[0]
            for e in ("sequential", "multicore", "auto")]  # fmt: skip
    assert (ways[0] == ways[1]).all() and (ways[0] == ways[2]).all()
    scores = [omics.nhood_enrichment(cells, "kind", n_perms=9, copy=True, engine=e).zscore
              for e in ("sequential", "multicore")]  # fmt: skip
    assert (scores[0] == scores[1]).all()
    with pytest.raises(ValueError, match="engine"):
        omics.ripley(cells, "kind", engine="sometimes")
